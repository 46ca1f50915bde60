import { relative } from 'node:path'

import type { Finding } from '../../core/attestation.ts'
import { copiesIn, type Copy } from '../copies.ts'

/** Each brings an SQLite of its own. */
const libraries = ['better-sqlite3', 'sqlite3', 'libsql', 'node-sqlite3-wasm']

/** Tells of several SQLite libraries in the application that lies in the folder. Node's own cannot be seen there. */
export async function otherLibraries(folder: string): Promise<readonly Finding[]> {
  const copies = await copiesIn(folder, libraries)
  return copies.length < 2 ? [] : [twoLibraries(copies, folder)]
}

function twoLibraries(copies: readonly Copy[], folder: string): Finding {
  const named = copies.map((copy) => `${copy.name} ${copy.version} (${relative(folder, copy.folder)})`)
  return {
    id: 'several-libraries',
    severity: 'warning',
    title: `${copies.length} SQLite libraries are installed: ${named.join(', ')}`,
    why: 'Two of them in one process do not exclude each other on the same file: both get its write lock, and closing a handle of one releases the locks of the other.',
    mend: 'Open each file with one copy of one library in the whole process: npm ls shows where the others come from.',
  }
}
