import { quotedBy, type SqlSyntax } from '../sql.ts'

export const syntax: SqlSyntax = { quote: quotedBy('"'), parameter: (position) => `$${position}` }
