import type { Engine } from '../engines/engine.ts'

export interface AccountWish {
  readonly name: string
  readonly password: string
}

/** Makes a user with a password who may read the engine's own database and make nothing. Gives what removes the user. */
export async function makeReader(
  engine: Engine,
  { name, password }: AccountWish,
): Promise<() => Promise<void>> {
  const database = new URL(engine.server.url).pathname.slice(1)
  const quoted = `'${password.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
  const inMysql = {
    make: [
      `create user '${name}'@'%' identified by ${quoted}`,
      `grant select on \`${database}\`.* to '${name}'@'%'`,
    ],
    remove: `drop user '${name}'@'%'`,
  }
  const ways: Readonly<Record<string, typeof inMysql | undefined>> = {
    postgres: { make: [`create role ${name} login password ${quoted}`], remove: `drop role ${name}` },
    mysql: inMysql,
    mariadb: inMysql,
  }
  const way = ways[engine.server.engine]
  if (way === undefined) throw new Error(`nobody can be made on ${engine.server.engine}`)
  const say = async (sql: string): Promise<void> => {
    const session = await engine.open()
    await session.run({ sql, params: [] })
    await session.close()
  }
  for (const sql of way.make) await say(sql)
  return () => say(way.remove)
}

/** The address of a database for another user. The password is written as it should be. */
export function asUser(url: string, { name, password }: AccountWish): string {
  const address = new URL(url)
  address.username = encodeURIComponent(name)
  address.password = encodeURIComponent(password)
  return address.href
}
