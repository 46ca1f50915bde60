import { randomUUID } from 'node:crypto'

import { isSql, type SqlStatement } from '../../../src/core/statement.ts'
import { emit } from '../../../src/emit.ts'
import type { EngineSession } from '../../engines/engine.ts'
import type { EngineContext } from '../../engines/use.ts'
import { lookerOn, type LookOptions, type Looker, type ServerName } from './look.ts'

export const sql = (text: string): SqlStatement => ({ sql: text, params: [] })

/** Sessions of one engine, and one more that looks. All are closed together. */
export interface Scene extends Looker {
  readonly name: ServerName
  readonly self: EngineSession
  /** How people would call the table, whose one row has the id 1. */
  readonly table: string
  readonly open: () => Promise<EngineSession>
  readonly close: () => Promise<void>
}

export async function sceneOf(context: EngineContext, options?: LookOptions): Promise<Scene> {
  const name = context.name as ServerName
  const opened: EngineSession[] = []
  const open = async (): Promise<EngineSession> => {
    const session = await context.engine.open()
    opened.push(session)
    return session
  }
  const self = await open()
  const database = new URL(context.engine.server.url).pathname.slice(1)
  return {
    ...(await lookerOn(self, { name, version: context.server.version }, options)),
    name,
    self,
    table: `${name === 'postgres' ? 'public' : database}.counter`,
    open,
    close: async () => {
      await Promise.all(opened.map((session) => session.close()))
    },
  }
}

/** The statement that takes a named lock until its session ends. */
export function nameLock(name: ServerName, key: string | readonly (string | number)[]): SqlStatement {
  const [statement] = emit(name, 'advisory', { key, scope: 'session', wait: 'block' }).beforeBegin
  if (statement === undefined || !isSql(statement)) throw new Error('a named lock is one statement')
  return statement
}

/** Somebody who may read one table, and nothing else. Gives the address to come by, and what takes the rights back. */
export async function withoutRights(
  scene: Scene,
  address: string,
): Promise<{ readonly url: string; readonly remove: () => Promise<void> }> {
  const url = new URL(address)
  url.username = `guest_${randomUUID().slice(0, 8)}`
  url.password = randomUUID()
  const role = scene.name === 'postgres' ? url.username : `'${url.username}'@'%'`
  const [create, drop] =
    scene.name === 'postgres'
      ? [`create role ${role} login password '${url.password}'`, `drop owned by ${role}; drop role ${role}`]
      : [`create user ${role} identified by '${url.password}'`, `drop user ${role}`]
  await scene.self.run(sql(create))
  await scene.self.run(sql(`grant select, update on counter to ${role}`))
  return { url: url.href, remove: async () => void (await scene.self.run(sql(drop))) }
}
