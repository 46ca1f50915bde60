/** What an engine does with a statement: the rows that are locked afterwards, or that it refuses the statement. */
export type Outcome = readonly string[] | 'refused'

/** A statement with `{lock}` where the lock stands, and what it does on the engines that can be asked. */
export interface Fact {
  readonly title: string
  readonly sql: string
  /** @default 'exclusive' */
  readonly mode?: 'shared'
  readonly postgres: Outcome
  readonly mysql: Outcome
  /** @default as mysql */
  readonly mariadb?: Outcome
}

const a1 = ['account 1']
const a12 = ['account 1', 'account 2']
const all = ['account 1', 'account 2', 'account 3', 'account 4']
const none: Outcome = []

/** Why the plugin refuses: somewhere the rows would not be locked, or the statement is not accepted. */
export const reasonsToRefuse: readonly Fact[] = [
  {
    title: 'a lock behind a sub-query in FROM reaches into it or not',
    sql: 'SELECT * FROM (SELECT * FROM account WHERE id = 1) t {lock}',
    postgres: a1,
    mysql: none,
  },
  {
    title: 'a lock behind a WITH query does not reach into it',
    sql: 'WITH t AS (SELECT * FROM account WHERE id = 1) SELECT * FROM t {lock}',
    postgres: none,
    mysql: none,
  },
  {
    title: 'a lock in a WITH query that nobody reads is not taken',
    sql: 'WITH t AS (SELECT * FROM account WHERE id = 1 {lock}) SELECT * FROM owner',
    postgres: none,
    mysql: none,
  },
  {
    title: 'a lock in a recursive WITH query is taken or refused',
    sql: 'WITH RECURSIVE t AS (SELECT id FROM account WHERE id = 1 UNION ALL SELECT a.id FROM account a JOIN t ON a.id = t.id + 1 WHERE a.id < 3 {lock}) SELECT * FROM t',
    postgres: 'refused',
    mysql: ['account 2', 'account 3'],
    mariadb: ['account 1', 'account 2', 'account 3'],
  },
  {
    title: 'a lock behind a union locks its last part or is refused',
    sql: 'SELECT id FROM account WHERE id = 1 UNION SELECT id FROM account WHERE id = 2 {lock}',
    postgres: 'refused',
    mysql: ['account 2'],
  },
  {
    title: 'a lock in one part of a union locks that part or is refused',
    sql: '(SELECT id FROM account WHERE id = 1 {lock}) UNION ALL SELECT id FROM account WHERE id = 2',
    postgres: 'refused',
    mysql: a1,
  },
  {
    title: 'a lock on both sides of an outer join locks both or is refused',
    sql: 'SELECT a.id, o.name FROM account a LEFT JOIN owner o ON o.id = a.owner_id WHERE a.id = 1 {lock}',
    postgres: 'refused',
    mysql: ['account 1', 'owner 10'],
  },
  {
    title: 'the optional side of an outer join is left out when nothing of it is read',
    sql: 'SELECT a.id FROM account a LEFT JOIN owner o ON o.id = a.owner_id WHERE a.id = 1 {lock}',
    postgres: 'refused',
    mysql: ['account 1', 'owner 10'],
    mariadb: a1,
  },
  {
    title: 'a locked sub-query on the optional side is left out when nothing of it is read',
    sql: 'SELECT o.id FROM owner o LEFT JOIN (SELECT * FROM account WHERE id = 1 {lock}) t ON t.id = o.id',
    postgres: a1,
    mysql: a1,
    mariadb: none,
  },
  {
    title: 'a locked column of a sub-query is left out when it is not read',
    sql: 'SELECT t.id FROM (SELECT id, (SELECT balance FROM account WHERE id = 1 {lock}) b FROM owner) t',
    postgres: none,
    mysql: none,
    mariadb: a1,
  },
  {
    title: 'DISTINCT locks all that was read or is refused',
    sql: 'SELECT DISTINCT balance FROM account {lock}',
    postgres: 'refused',
    mysql: all,
  },
  {
    title: 'an aggregate locks what was read or is refused',
    sql: 'SELECT max(id) AS m FROM account {lock}',
    postgres: 'refused',
    mysql: ['account 4'],
  },
  {
    title: 'a shared lock with an aggregate locks no row or is refused',
    sql: 'SELECT count(*) AS n FROM account {lock}',
    mode: 'shared',
    postgres: 'refused',
    mysql: none,
  },
  {
    title: 'a window function locks what was read or is refused',
    sql: 'SELECT id, row_number() OVER (ORDER BY balance) AS r FROM account {lock}',
    postgres: 'refused',
    mysql: all,
  },
  {
    title: 'a lock without a table is not taken',
    sql: 'SELECT 1 AS one {lock}',
    postgres: none,
    mysql: none,
  },
  {
    title: 'the name of a table that has an alias is not accepted',
    sql: 'SELECT a.id FROM account a WHERE a.id = 1 {lock} OF account',
    postgres: 'refused',
    mysql: 'refused',
  },
]

/** Why the plugin does not refuse: the rows that the locked SELECT hands on are locked everywhere. */
export const reasonsToAccept: readonly Fact[] = [
  {
    title: 'a sub-query in FROM',
    sql: 'SELECT * FROM (SELECT * FROM account WHERE id IN (1, 2) {lock}) t',
    postgres: a12,
    mysql: a12,
  },
  {
    title: 'a sub-query in FROM of which the query around it takes one row',
    sql: 'SELECT * FROM (SELECT * FROM account WHERE id IN (1, 2) {lock}) t WHERE t.id = 1',
    postgres: a1,
    mysql: a1,
  },
  {
    title: 'a sub-query in WHERE',
    sql: 'SELECT * FROM owner WHERE id = (SELECT owner_id FROM account WHERE id = 1 {lock})',
    postgres: a1,
    mysql: a1,
  },
  {
    title: 'a sub-query of EXISTS',
    sql: 'SELECT * FROM owner o WHERE EXISTS (SELECT 1 FROM account a WHERE a.owner_id = o.id AND a.id = 1 {lock})',
    postgres: a1,
    mysql: a1,
  },
  {
    title: 'a column of the result',
    sql: 'SELECT (SELECT balance FROM account WHERE id = 1 {lock}) b FROM owner',
    postgres: a1,
    mysql: a1,
  },
  {
    title: 'a WITH query',
    sql: 'WITH t AS (SELECT * FROM account WHERE id IN (1, 2) {lock}) SELECT * FROM t',
    postgres: a12,
    mysql: a12,
  },
  {
    title: 'a WITH query of which the query around it takes one row',
    sql: 'WITH t AS (SELECT * FROM account WHERE id IN (1, 2) {lock}) SELECT * FROM t WHERE id = 1',
    postgres: a12,
    mysql: a1,
  },
  {
    title: 'INSERT from a SELECT',
    sql: 'INSERT INTO log SELECT id FROM account WHERE id = 1 {lock}',
    postgres: a1,
    mysql: a1,
  },
]

/** What no look at the query can tell: which index is read. */
export const indexFacts: readonly Fact[] = [
  {
    title: 'an exclusive lock reaches the row through an index that holds all that is read',
    sql: 'SELECT owner_id FROM account WHERE owner_id = 10 {lock}',
    postgres: a1,
    mysql: a1,
  },
  {
    title: 'a shared lock stays in an index that holds all that is read',
    sql: 'SELECT owner_id FROM account WHERE owner_id = 10 {lock}',
    mode: 'shared',
    postgres: a1,
    mysql: none,
  },
  {
    title: 'a shared lock reaches the row when more of it is read',
    sql: 'SELECT balance FROM account WHERE owner_id = 10 {lock}',
    mode: 'shared',
    postgres: a1,
    mysql: a1,
  },
]
