import { expect, test } from 'vitest'

import { LockUsageError } from '../../../src/core/errors.ts'
import type { Replies } from '../../../src/dialects/tools.ts'
import { classifyError } from '../../../src/classify.ts'
import { findDialect, type DialectName } from '../../../src/registry.ts'
import { until } from '../../engines/use.ts'
import { caught } from '../../entries/stage.ts'
import { asking, describeInspect, sql, statementsOf } from './stage.ts'

describeInspect((stage) => {
  const { good, bad } = statementsOf(stage.name)

  test('what the server refuses is told as unseen, and the other questions are answered', async () => {
    let seen: Replies = {}
    const questions = {
      first: { ask: bad, unknown: 'all that is nowhere' },
      second: { ask: good, unknown: 'a number' },
    }
    const { locks } = await stage.process(asking(stage.name, questions, (replies) => (seen = replies)))
    const { unseen } = await locks.inspect()
    expect(unseen).toEqual([
      expect.stringMatching(/^all that is nowhere \(.{3,180}\)$/),
      'what the answers leave out',
      'what is never shown',
    ])
    expect(seen.first).toBeUndefined()
    expect(seen.second).toHaveLength(1)
  })

  test('a question that depends on another is asked only when that has an answer', async () => {
    let seen: Replies = {}
    const questions = {
      none: {
        ask: stage.name === 'mongodb' ? { command: { find: 'nowhere' } } : sql('SELECT 1 AS n WHERE 1 = 0'),
        unknown: 'nothing',
      },
      skipped: { ask: bad, unknown: 'all that is nowhere', onlyIf: 'none' },
      one: { ask: good, unknown: 'a number' },
      asked: { ask: bad, unknown: 'all that is nowhere', onlyIf: 'one' },
    }
    const { locks } = await stage.process(asking(stage.name, questions, (replies) => (seen = replies)))
    expect((await locks.inspect()).unseen).toHaveLength(3)
    expect(seen).toMatchObject({ none: [], skipped: [] })
    expect(seen.asked).toBeUndefined()
  })

  test('a dialect that has no tools is refused, and the connection goes back', async () => {
    const { tools: _, ...dialect } = findDialect(stage.name as DialectName)
    const { locks, sessions } = await stage.process(dialect)
    for (let look = 0; look < 5; look += 1)
      await expect(locks.inspect()).rejects.toMatchObject({ field: 'dialect' })
    await (await sessions.open()).release()
  })

  test.each<[string, object]>([
    ['scope', { scope: 'galaxy' }],
    ['scopes', { scopes: 'server' }],
    ['keys', { keys: 'one' }],
    ['key', { keys: [[]] }],
    ['key[0]', { keys: [['']] }],
    ['signal', { signal: 'now' }],
  ])('a wrong option is refused at the door: %s', async (field, options) => {
    const { locks } = await stage.process()
    const error = await caught(locks.inspect(options))
    expect(error).toBeInstanceOf(LockUsageError)
    expect(error).toMatchObject({ field })
  })
})

const deaths: Readonly<Record<string, string>> = {
  postgres: 'SELECT pg_terminate_backend(pg_backend_pid())',
  mysql: 'KILL CONNECTION_ID()',
  mariadb: 'KILL CONNECTION_ID()',
}
const naps: Readonly<Record<string, string>> = {
  postgres: 'SELECT pg_sleep(600) AS nap',
  mysql: 'SELECT SLEEP(600) AS nap',
  mariadb: 'SELECT SLEEP(600) AS nap',
}

describeInspect((stage) => {
  test('a connection that is lost is no refusal: the call rejects, and the next one works', async () => {
    const questions = {
      death: { ask: sql(String(deaths[stage.name])), unknown: 'death' },
      after: { ask: sql('SELECT 1 AS n'), unknown: 'a number' },
    }
    const mortal = await stage.process(asking(stage.name, questions))
    const error = await caught(mortal.locks.inspect())
    expect(classifyError(error)).toMatchObject({ kind: 'connection-lost' })
    const session = await mortal.sessions.open()
    expect(await session.run(sql('SELECT 1 AS n'))).toHaveLength(1)
    await session.release()
  })

  test('a signal ends a question that takes long, on the server too', async () => {
    const nap = String(naps[stage.name])
    const sleeper = await stage.process(asking(stage.name, { nap: { ask: sql(nap), unknown: 'a nap' } }))
    const observer = await stage.engine.open()
    const asleep = async (): Promise<boolean> => {
      const list =
        stage.name === 'postgres'
          ? 'SELECT query AS q FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()'
          : 'SELECT info AS q FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND db = DATABASE()'
      const rows = await observer.run(sql(list))
      return rows.some(({ q }) => String(q) === nap)
    }
    const abort = new AbortController()
    const looking = caught(sleeper.locks.inspect({ signal: abort.signal }))
    await until(asleep, 'a question that sleeps')
    abort.abort(new Error('enough'))
    expect(await looking).toMatchObject({ message: 'enough' })
    await until(async () => !(await asleep()), 'a server that has stopped')
    await observer.close()
  })
}, Object.keys(deaths))

describeInspect(
  (stage) => {
    test('why something was refused is told in one line without secrets', async () => {
      const words = 'no, see db://app:hush@host/x { sign: 1 }\nand more'
      const ask = sql(`DO $$ BEGIN RAISE EXCEPTION E'${words.replace('\n', String.raw`\n`)}'; END $$`)
      const { locks } = await stage.process(asking(stage.name, { one: { ask, unknown: 'one' } }))
      expect((await locks.inspect()).unseen[0]).toBe('one (no, see db://host/x; code P0001)')
    })
  },
  ['postgres'],
)
