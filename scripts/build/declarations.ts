import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const relativeImport = /['"](\.{1,2}\/[^'"]+)\.(?:js|ts)['"]/g

/** Those of the emitted declarations that a user's compiler can reach from these; the others would only be ballast. */
export async function reachable(entries: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const open = [...entries]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue
    found.add(file)
    for (const [, path = ''] of (await readFile(file, 'utf8')).matchAll(relativeImport)) {
      const next = join(dirname(file), `${path}.d.ts`)
      if (existsSync(next)) open.push(next)
    }
  }
  return found
}
