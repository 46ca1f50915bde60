import Database from 'better-sqlite3'
import mysql from 'mysql2/promise'
import pg from 'pg'

import { fateOf as sqliteFate } from '../../src/adapters/better-sqlite3/words.ts'
import { fateOf as duckdbFate } from '../../src/adapters/duckdb/words.ts'
import { fateWords } from '../../src/adapters/mysql2/words.ts'
import { bodyTraits } from '../../src/adapters/pg/body.ts'
import { fateBy, type FateOf } from '../../src/adapters/statement-fate.ts'
import { loadDuckdb } from '../engines/duckdb-driver.ts'

/** What becomes of a text that is sent in a transaction. */
export interface Outcome {
  readonly isError: boolean
  /** Whether the transaction is the one that was begun before it. */
  readonly isThere: boolean
}

/** A database, and how its texts are read before they are sent there. */
export interface TextServer {
  readonly fateOf: FateOf
  /** What only this database takes for a quote or a comment. */
  readonly pieces: readonly string[]
  /** What only this database takes for a blank. */
  readonly gaps: readonly string[]
  /** Statements that only this database has. A blank stands where any other may. */
  readonly statements: readonly string[]
  /** Which of the texts that are refused may do nothing. */
  readonly isIdle?: (text: string, ends: string) => boolean
  readonly runs: number
  readonly send: (text: string) => Promise<Outcome>
  readonly close: () => Promise<void>
}

/** Tells by a savepoint, which goes with its transaction, and outlasts an error. */
async function bySavepoint(text: string, say: (text: string) => Promise<unknown>): Promise<Outcome> {
  const fails = (one: string): Promise<boolean> =>
    say(one).then(
      () => false,
      () => true,
    )
  await say('rollback').catch(() => {})
  await say('begin')
  await say('savepoint holdfast_mark')
  const isError = await fails(text)
  return { isError, isThere: !(await fails('rollback to savepoint holdfast_mark')) }
}

async function onSqlite(): Promise<TextServer> {
  const database = new Database(':memory:')
  database.exec('create table kept (id integer)')
  return {
    fateOf: sqliteFate,
    pieces: ['[', ']', '`', 'end'],
    gaps: [' \ufeff'],
    statements: [
      "select 1 as [']",
      "select 1 as [;] , 2 as `'`",
      'create table trigger (x)',
      'create trigger t after insert on kept begin select 1; end',
      'create temp trigger t after insert on kept begin select case when 1 then 2 end; select begin from kept; end',
      'explain create trigger t after insert on kept begin select 1; end',
      'end transaction',
      'rollback transaction to holdfast_mark',
      'rollback transaction mine to holdfast_mark',
      'rollback transaction toé',
      'rollback transaction to$',
      'rollback transaction \u00a0 to holdfast_mark',
      "attach ':memory:' as other",
      'detach other',
      'pragma foreign_keys = on',
      'pragma journal_mode = memory',
      'vacuum',
    ],
    runs: 4000,
    send: (text) => bySavepoint(text, async (one) => database.exec(one)),
    close: async () => void database.close(),
  }
}

async function onPostgres(connectionString: string): Promise<TextServer> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return {
    fateOf: bodyTraits.fateOf,
    pieces: ['$$', '$a$', "e'", '\\', '\r', '$1', 'end', 'abort'],
    gaps: ['-- a\r', '/* /* */ ; */'],
    statements: [
      'rollback and chain',
      'commit and chain',
      'rollback work to savepoint holdfast_mark',
      'end',
      'abort',
      "select $$';$$",
      'select $a$ $$ ; commit; $a$',
      "select e'\\'; commit; --'",
      "select e'a'\n'\\'' ; commit; --'",
      "select e'a' -- b\r '\\'' ; commit; --'",
      "select e'a' /* b */ '\\'",
      "select 'a'\n'\\'",
      "select 'a\\'",
      'create function pg_temp.f() returns int language sql begin atomic select 1; select case when true then 2 end; end',
      'create function pg_temp.f() returns int language sql return 1',
      'do $$ begin perform 1; end $$',
      'select 1 as \u00a0$$; commit; select 1 as x$$',
      'select 1a$$; commit; select 1 as x$$',
      'set local work_mem = 1000',
      'prepare transaction as select 1',
    ],
    // within a transaction BEGIN is a warning, but nobody can mean it
    isIdle: (_, ends) => ends.startsWith('begin'),
    runs: 700,
    send: (text) => bySavepoint(text, (one) => client.query(one)),
    close: () => client.end(),
  }
}

async function onMysql(uri: string): Promise<TextServer> {
  const connection = await mysql.createConnection({ uri, multipleStatements: true })
  return {
    fateOf: fateBy(fateWords),
    pieces: ['#', '/*!', '/*!50000', '/*!99999', '/*M!', '`', '\\', '-'],
    gaps: ['# a\n', "--\x01'\n", "--\x7f'\n", '/*! */', '/*!50000 */', "/*!99999 ' */"],
    statements: [
      'start transaction',
      'rollback and chain',
      'rollback work to savepoint holdfast_mark',
      '/*! commit */',
      '/*!50000 commit */',
      '/*M! commit */',
      '/*!99999 /* */ */ commit',
      '/*!99999 /* /* */ */ commit',
      '/*M!999999 /* */ commit',
      '/*M!999999 /* */ */ commit',
      'set @x = 1',
      'set @x = greatest( 1 , @@autocommit )',
      'set @x = ( 1 ) , @y = 2',
      "set @x = 'autocommit = 0' , @autocommit = 0",
      "select 'a\\'; commit; -- b'",
      'select 1 as `;commit`',
      'select 1 from ( select 5 as \u00a0 ) t where 1 --\u00a0; commit; select 1',
      'select\u00a0: begin not atomic commit; end',
      '\u00a0: begin not atomic commit; end',
      'commité: begin not atomic select 1; end',
    ],
    // which of these comments are run, the version decides
    isIdle: (text) => /\/\*M?!/.test(text),
    runs: 700,
    send: (text) => bySavepoint(text, (one) => connection.query(one)),
    close: () => connection.end(),
  }
}

async function onDuckdb(): Promise<TextServer> {
  const instance = await (await loadDuckdb()).DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const number = async (): Promise<unknown> =>
    (await connection.runAndReadAll('select txid_current() as id')).getRowObjectsJS()[0]?.id
  const send = async (text: string): Promise<Outcome> => {
    await connection.run('rollback').catch(() => {})
    await connection.run('begin')
    const before = await number()
    const isError = await connection.run(text).then(
      () => false,
      () => true,
    )
    // one that an error has ended is there until somebody rolls back
    const isThere = await number().then(
      (after) => after === before,
      () => true,
    )
    return { isError, isThere }
  }
  return {
    fateOf: duckdbFate,
    pieces: ['$$', '$a$', "e'", '\\', '\r', '[', ']', '#1', 'end'],
    gaps: ['-- a\r', '\u00a0', '\u200b', '\u2060', '\ufeff', '/* /* */ ; */'],
    statements: [
      'end',
      'abort',
      'start transaction',
      'select 1a$$; commit; select 1 as x$$',
      "select [';commit', '']",
      'select $$;commit$$',
      "select e'\\'; commit; --'",
      'prepare mine as commit',
      'execute mine',
      'create temp table trigger (x integer)',
    ],
    runs: 1500,
    send,
    close: async () => {
      connection.disconnectSync()
      instance.closeSync()
    },
  }
}

export const textServers: Readonly<Record<string, (url: string) => Promise<TextServer>>> = {
  sqlite: onSqlite,
  duckdb: onDuckdb,
  postgres: onPostgres,
  mysql: onMysql,
  mariadb: onMysql,
}
