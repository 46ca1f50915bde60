import { fileURLToPath } from 'node:url'

import { readPage, root, type Fence } from './page.ts'
import { enginesIn, titleOf, type Target } from './words.ts'

/** The page that shows, for each adapter, the file that other programs import as `./db.ts`. */
const page = 'docs/getting-started.md'
let read: Promise<readonly Fence[]> | undefined

function fences(): Promise<readonly Fence[]> {
  read ??= readPage(page).then((one) => one.fences.filter(({ language }) => language === 'ts'))
  return read
}

/** The block that is `./db.ts` for a target. */
export async function dbFence(target: Target): Promise<Fence> {
  const found = (await fences()).find(
    (fence) =>
      fence.words.includes('db') &&
      fence.words.includes('kysely') === target.isKysely &&
      enginesIn(fence).includes(target.engine),
  )
  if (found === undefined) throw new Error(`${page} shows no db.ts for ${titleOf(target)}`)
  return found
}

/** The block that is `./tables.ts`, which Kysely's `./db.ts` imports. */
export async function tablesFence(): Promise<Fence | undefined> {
  return (await fences()).find(({ words }) => words.includes('tables'))
}

/** The folders of Prisma's clients that are not PostgreSQL's. */
const prismaClients: Readonly<Record<string, string>> = { sqlite: 'sqlite', mysql: 'mysql', mariadb: 'mysql' }

/** `./generated/client.ts`: the Prisma client that the tests use. */
export function prismaClient({ engine }: Target): string {
  const client = `test/orms/prisma/${prismaClients[engine] ?? 'postgres'}/client.ts`
  return `export * from '${fileURLToPath(new URL(client, root))}'\n`
}
