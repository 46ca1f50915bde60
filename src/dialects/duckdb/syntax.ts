import { quotedBy, type SqlSyntax } from '../sql.ts'

export const syntax: SqlSyntax = { quote: quotedBy('"'), parameter: () => '?' }

/** Milliseconds since 1970 when the transaction began: too early at worst, so a lease is never taken for expired. */
export const nowMs = 'epoch_ms(now())'
