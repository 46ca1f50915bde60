import { createRequire } from 'node:module'

const { version } = createRequire(import.meta.url)('../../package.json') as { readonly version: string }

/** Holdfast's own version, for reports. */
export const holdfastVersion: string = version
