import { describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { caught } from '../entries/stage.ts'
import { describeBodies, note, onKysely, onMariadb, onMysql2, onPg, type Stage } from './stage.ts'

const ofMysql = [
  "SET PASSWORD = 'y'",
  'SET DEFAULT ROLE NONE TO bob@localhost',
  'START /* x */ TRANSACTION',
  'set @x = 1, autocommit = 0',
  'set @@session.autocommit = 0',
  'set `autocommit` = 0',
  'SET /* mine */ completion_type = 1',
  '/*! COMMIT */',
  '/*!50000 COMMIT */',
  '# mine\ncommit',
  'commit/**/and chain',
  'lock /**/ tables note write',
  'flush tables with read lock',
  'unlock tables',
  "xa start 'x'",
  'analyze table note',
  'do release_all_locks()',
  'SET STATEMENT max_statement_time=9 FOR COMMIT',
  'SET STATEMENT max_statement_time=9 FOR CREATE TABLE other (a int)',
  'DO 1+1+1+1, RELEASE_ALL_LOCKS()',
  'do (select 1 + release_all_locks())',
]

/** Statements with others inside. What begins a new transaction as well cannot be seen afterwards. */
const blocksOfMariadb = [
  'BEGIN NOT ATOMIC INSERT INTO note VALUES (3); COMMIT; START TRANSACTION; END',
  'begin not atomic begin rollback and chain; end; end',
  'begin not atomic declare exit handler for sqlexception rollback and chain; insert into note values (1); end',
  'begin not atomic if 1 then create table other (a int); start transaction; end if; end',
  'begin not atomic set autocommit = 0; end',
  'IF 1 THEN COMMIT; START TRANSACTION; END IF',
  'if 0 then select 1; else commit and chain; end if',
  'case 1 when 1 then commit and chain; end case',
  'mine: loop commit and chain; leave mine; end loop',
  'select\u00a0: begin not atomic commit and chain; end',
  '\u00a0with : begin not atomic commit and chain; end',
  'SET STATEMENT max_statement_time=5 FOR BEGIN NOT ATOMIC COMMIT; START TRANSACTION; END',
]

/** What ends a transaction, however it is spelled. */
const ending: Readonly<Record<string, readonly string[]>> = {
  postgres: [
    'select 1; rollback and chain',
    'select 1; commit and chain',
    'rollback /* mine */ and chain',
    "prepare /**/ transaction 'x'",
    'start /* /* a */ b */ transaction',
    '-- mine\rcommit',
    "select $a$'$a$; commit; begin; select $$'$$",
    "select e'\\''; commit; begin; select ''",
    'select 1 as \u00a0$$; commit; begin; select 1 as x$$',
    'create domain pg_temp.atomic int; create function pg_temp.typed(begin atomic) returns int language sql return 1; commit',
  ],
  mysql: ofMysql,
  mariadb: [...ofMysql, ...blocksOfMariadb],
  sqlite: [
    'end /* mine */ transaction',
    "/* ' */ commit",
    'rollback /* to x */',
    'rollback transaction toé',
    '; commit',
  ],
}

const common = [
  'savepoint mine',
  'rollback to mine',
  'ROLLBACK /* all of it */ TO mine',
  'rollback to savepoint mine',
  'release savepoint mine',
  "select 'commit; rollback'",
  'select 1 as "commit"',
  'select 1 -- ; commit',
]

const keptByMysql = [
  ...common.slice(0, 4),
  'ROLLBACK WORK TO SAVEPOINT mine',
  ...common.slice(4),
  'set @x = 1',
  "set @autocommit = 0, @a = 'x, autocommit = 0'",
  'set @a = @@autocommit',
  'SET SESSION sort_buffer_size = 262144',
  'create /* mine */ temporary table mine (id int)',
  'drop temporary table mine',
  "select /*!50000 'commit' */",
  "select 'it\\'s; commit'",
  'set @x = greatest(1, @@autocommit), @y = if(1, @@autocommit, 0)',
  'set @h = (select max(concat(salt, password, autocommit)) from (select 1 salt, 2 password, 3 autocommit) x)',
  "prepare mine from 'select 1'",
  'drop prepare mine',
]

const keptByMariadb = [
  ...keptByMysql,
  "begin not atomic select 'commit', `commit`, x.`rollback` from (select 1 `commit`, 2 `rollback`) x; end",
  "if 1 then select 'start transaction'; end if",
]

/** What keeps it, however much it looks like that. */
const keeping: Readonly<Record<string, readonly string[]>> = {
  postgres: [
    ...common.slice(0, 4),
    'ROLLBACK WORK TO SAVEPOINT mine',
    ...common.slice(4),
    'set local work_mem = 1000',
    "select 1; select 'commit; rollback'; select $$; commit$$",
    'create function pg_temp.two() returns int language sql begin atomic select 1; select case when true then 2 end; end',
    'create domain pg_temp.atomic int; create function pg_temp.both(begin atomic) returns int language sql begin atomic select 1; end',
    'do $$ begin perform 1; end $$',
    'prepare transaction as select 1',
    'deallocate transaction',
    'prepare transaction (int) as select $1',
  ],
  mysql: keptByMysql,
  mariadb: keptByMariadb,
  sqlite: [
    ...common,
    'create trigger mine after insert on note begin select 1; select case when 1 then 2 end; end',
    'drop trigger mine',
    'select 1 as [;commit]',
    'explain commit',
    'explain create trigger mine after insert on note begin select 1; select case when 1 then 2 end; end',
    'explain query plan create trigger mine after insert on note begin select 1; end',
  ],
}

describe('a text of the work', () => {
  describeBodies(specs, { only: [onPg, onMysql2, onMariadb, onKysely] })
})

function specs(stage: Stage): void {
  const { transaction, stored, name } = stage

  test.each(ending[name] ?? [])('%j is refused, and the transaction goes on', async (text) => {
    await transaction(async (send) => {
      await send(note(1))
      expect(await caught(send(text))).toBeInstanceOf(LockUsageError)
      // SQLite has one writer, and no way to look at a database without it here
      if (name !== 'sqlite') expect(await stored()).toEqual([])
      await send(note(2))
    })
    expect(await stored()).toEqual([1, 2])
  })

  test('that keeps the transaction is sent', async () => {
    await transaction(async (send) => {
      await send(note(1))
      for (const text of keeping[name] ?? []) await send(text)
    })
    expect(await stored()).toEqual([1])
  })
}
