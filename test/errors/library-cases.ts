import type { SqlStatement } from '../../src/core/statement.ts'
import { sql } from './provoke/sql.ts'

/** One error that a single statement meets while another session does something. */
export interface LibraryCase {
  readonly name: string
  /** What the session under test runs first. */
  readonly first: readonly string[]
  /** What the other session runs then, with its transaction left open. */
  readonly other: readonly string[]
  /** What the other session runs after that, and waits with. */
  readonly otherWaits?: SqlStatement
  /** What fails. */
  readonly statement: string
}

const lockRow = (id: number, how = ''): string => `select n from items where id = ${id} for update ${how}`

/** The same for every library over one engine. */
export const libraryCases: Readonly<Record<string, readonly LibraryCase[]>> = {
  postgres: [
    { name: 'a key twice', first: ['begin'], other: [], statement: 'insert into items values (1, 0)' },
    { name: 'NOWAIT', first: ['begin'], other: ['begin', lockRow(1)], statement: lockRow(1, 'nowait') },
    {
      name: 'a lock timeout',
      first: ['begin', "set local lock_timeout = '50ms'"],
      other: ['begin', lockRow(1)],
      statement: lockRow(1),
    },
    {
      name: 'a serialization failure',
      first: ['begin isolation level repeatable read', 'select * from items'],
      other: ['update items set n = n + 1'],
      statement: 'update items set n = n + 1',
    },
    {
      name: 'a deadlock',
      // whoever looks first is the one to go
      first: ["set deadlock_timeout = '10ms'", 'begin', lockRow(1)],
      other: ["set deadlock_timeout = '60s'", 'begin', lockRow(2)],
      otherWaits: sql(lockRow(1)),
      statement: lockRow(2),
    },
  ],
  mysql: [
    { name: 'a key twice', first: ['begin'], other: [], statement: 'insert into items values (1, 0)' },
    { name: 'NOWAIT', first: ['begin'], other: ['begin', lockRow(1)], statement: lockRow(1, 'nowait') },
    {
      name: 'a lock timeout',
      first: ['set innodb_lock_wait_timeout = 1', 'begin'],
      other: ['begin', lockRow(1)],
      statement: lockRow(1),
    },
    {
      name: 'a deadlock',
      first: ['begin', lockRow(1)],
      // whoever has written less is the one to go
      other: ['begin', 'insert into items values (11, 0), (12, 0), (13, 0), (14, 0)', lockRow(2)],
      otherWaits: sql(lockRow(1)),
      statement: lockRow(2),
    },
  ],
  sqlite: [
    {
      name: 'a key twice',
      first: ['begin immediate'],
      other: [],
      statement: 'insert into items values (1, 0)',
    },
    { name: 'a busy file', first: [], other: ['begin immediate'], statement: 'begin immediate' },
    {
      name: 'an old snapshot',
      first: ['begin', 'select * from items'],
      other: ['update items set n = n + 1'],
      statement: 'update items set n = n + 2',
    },
  ],
}
