/** A text of a source file, and what stands there while a fix is taken out. */
export interface Change {
  readonly file: string
  /** Occurs once in the file: a test holds it. */
  readonly from: string
  readonly to: string
}

/** Something that was wrong once, and that the fuzzer must find again when its fix is taken out. */
export interface Fix {
  readonly name: string
  /** The ways into the library that showed it, each with its engine. */
  readonly shownBy: readonly (readonly [engine: string, way: string])[]
  readonly changes: readonly Change[]
}

const remove = (file: string, from: string): Change => ({ file, from, to: '' })

export const fixes: readonly Fix[] = [
  {
    name: '1 mysql2: COMMIT is decided on before the statements in flight have answered',
    shownBy: [
      ['mysql', 'mysql2'],
      ['mariadb', 'mysql2'],
    ],
    changes: [
      remove('src/adapters/mysql2/sessions.ts', 'untilIdle: () => line.untilIdle(),'),
      {
        file: 'src/adapters/mysql2/statements.ts',
        from: "line.send('COMMIT', 'commit')",
        to: "line.send('COMMIT', body.asksBefore('commit') ? 'commit' : 'free')",
      },
    ],
  },
  {
    name: '1 kysely: COMMIT is decided on before the statements in flight have answered',
    shownBy: [
      ['postgres', 'kysely'],
      ['mysql', 'kysely'],
      ['mariadb', 'kysely'],
    ],
    changes: [
      { file: 'src/adapters/kysely/control.ts', from: 'return running.untilNone()', to: 'return undefined' },
      remove('src/adapters/kysely/control.ts', 'await parts.settle()'),
      {
        file: 'src/adapters/kysely/control.ts',
        from: '{ send, sendFirst, driver }: ControlParts',
        to: '{ send, sendFirst, driver, watched }: ControlParts',
      },
      {
        file: 'src/adapters/kysely/control.ts',
        from: "send('COMMIT', 'commit')",
        to: "send('COMMIT', watched.body.asksBefore('commit') ? 'commit' : 'free')",
      },
    ],
  },
  {
    name: "2: errors of Kysely's stream() are not noted",
    shownBy: [
      ['mysql', 'kysely'],
      ['mariadb', 'kysely'],
    ],
    changes: [remove('src/adapters/kysely/body.ts', 'body.failed(error, true, steps)')],
  },
  {
    name: '3: after a deadlock that was caught, statements are sent',
    shownBy: [
      ['mysql', 'mysql2'],
      ['mariadb', 'kysely'],
    ],
    changes: [
      {
        file: 'src/adapters/transaction-body.ts',
        from: "return manner === 'checked' && this.isInDoubt",
        to: 'return false',
      },
    ],
  },
  {
    name: '3 SQLite: after an error that rolled back, statements are run',
    shownBy: [['sqlite', 'better-sqlite3']],
    changes: [
      remove('src/adapters/better-sqlite3/transaction.ts', 'if (this.#isGone()) throw this.#whyGone()'),
    ],
  },
  {
    name: '4: connections with autocommit off are accepted',
    shownBy: [
      ['mysql', 'mysql2, autocommit off'],
      ['mariadb', 'mysql2, autocommit off'],
    ],
    changes: [
      remove(
        'src/adapters/mysql2/server-status.ts',
        'if (status !== undefined && (status & AUTOCOMMIT) === 0) throw withoutAutocommit()',
      ),
    ],
  },
  {
    name: '8: the level that was planned for does not go with BEGIN',
    shownBy: [['postgres', 'pg, levels that differ']],
    changes: [
      remove(
        'src/locks/named/opening.ts',
        'if (open.dialect.named.defaultIsolation?.goesWithBegin === true) open.isolation = isolation',
      ),
    ],
  },
  {
    name: '9: row locks with savepoints overlap',
    shownBy: [['postgres', 'pg']],
    changes: [
      {
        file: 'src/locks/rows/rows.ts',
        from: 'return oneAtATime(open, () => lockInTime(open, options.wait, lock))',
        to: 'return (options.savepoint === true ? lock() : oneAtATime(open, lock))',
      },
      {
        file: 'src/locks/transaction/savepoint.ts',
        from: 'begun.catch(() => {})',
        to: 'await begun',
      },
    ],
  },
  {
    name: '10: what is derived from a Kysely transaction is none',
    shownBy: [
      ['postgres', 'kysely'],
      ['sqlite', 'kysely'],
    ],
    changes: [
      {
        file: 'src/adapters/kysely/transaction.ts',
        from: 'const child = viewOfTransaction(whole, plugin)',
        to: 'const child = whole',
      },
    ],
  },
  {
    name: "13: a lock's setting is applied with no statement to go with it",
    shownBy: [
      ['postgres', 'pg'],
      ['postgres', 'kysely'],
    ],
    changes: [remove('src/locks/named/opening.ts', 'if (statements.length === 0) return')],
  },
  {
    name: "14: an abort behind the work's own error is taken for one that has ended the session",
    shownBy: [
      ['postgres', 'pg'],
      ['mysql', 'mysql2'],
    ],
    changes: [
      {
        file: 'src/locks/transaction/attempt.ts',
        from: 'if (signal?.aborted === true) doubt(signal.reason)',
        to: 'if (signal?.aborted === true) return',
      },
    ],
  },
  {
    name: '15: row locks with a limit overlap',
    shownBy: [
      ['mysql', 'mysql2'],
      ['mariadb', 'mysql2'],
    ],
    changes: [
      {
        file: 'src/locks/rows/rows.ts',
        from: 'return oneAtATime(open, () => lockInTime(open, options.wait, lock))',
        to: 'return (options.savepoint === true ? oneAtATime(open, lock) : lock())',
      },
    ],
  },
  {
    name: '16: the session of a lost COMMIT keeps its place while the server is asked',
    shownBy: [
      ['postgres', 'pg, a bad network'],
      ['postgres', 'kysely, a bad network'],
    ],
    changes: [
      remove('src/locks/transaction/commit.ts', 'transaction.giveUp(error)'),
      {
        file: 'src/locks/transaction/commit.ts',
        from: "{ purpose: 'to ask what became of a COMMIT', patienceMs }",
        to: "{ purpose: 'to ask what became of a COMMIT' }",
      },
    ],
  },
  {
    name: '17: nothing ends a COMMIT or ROLLBACK that is never answered',
    shownBy: [
      ['postgres', 'pg, a bad network'],
      ['mysql', 'mysql2, a bad network'],
    ],
    changes: [
      {
        file: 'src/locks/transaction/job.ts',
        from: 'if (signal === undefined && budget === undefined) return undefined',
        to: 'return undefined',
      },
      {
        file: 'src/locks/transaction/attempt.ts',
        from: "await inGrace(tellEnding(open, 'ROLLBACK', () => session.rollback()))",
        to: "await tellEnding(open, 'ROLLBACK', () => session.rollback())",
      },
    ],
  },
  {
    name: "27: DuckDB's COMMIT and ROLLBACK overtake the work's own statements",
    shownBy: [['duckdb', 'duckdb']],
    changes: [
      { file: 'src/adapters/duckdb/sessions.ts', from: 'untilIdle,\n    witness,', to: 'witness,' },
      {
        file: 'src/adapters/duckdb/sessions.ts',
        from: 'const floating = await settle()',
        to: 'const floating = undefined',
      },
      remove('src/adapters/duckdb/sessions.ts', 'await halt()'),
    ],
  },
  {
    name: '28: what only follows from a conflict on DuckDB does not tell of it',
    shownBy: [['duckdb', 'duckdb']],
    changes: [remove('src/adapters/duckdb/blame.ts', 'error.cause ??= this.error')],
  },
  {
    name: '29: an operation of MongoDB that nobody waited for is sent after the rollback',
    shownBy: [['mongodb', 'mongodb']],
    changes: [
      remove('src/adapters/mongodb/lent.ts', "if (name === 'hasEnded' && this.#isOver) return true"),
      remove(
        'src/adapters/mongodb/session.ts',
        'if (this.#isMiscounted || !(await this.#traffic.isOverIn(graceMs))) throw unanswered()',
      ),
    ],
  },
  {
    name: '30: the abort of MongoDB overtakes the operation that begins the transaction',
    shownBy: [['mongodb', 'mongodb']],
    changes: [
      remove(
        'src/adapters/mongodb/session.ts',
        'if (this.#isMiscounted || !(await this.#traffic.isOverIn(graceMs))) throw unanswered()',
      ),
    ],
  },
  {
    name: '31: two operations of Holdfast begin a transaction of MongoDB',
    shownBy: [['mongodb', 'mongodb']],
    changes: [
      {
        file: 'src/adapters/mongodb/traffic.ts',
        from: 'while (this.#isToBegin && this.isBusy)',
        to: 'while (false)',
      },
      remove(
        'src/adapters/mongodb/traffic.ts',
        'if (this.#isToBegin && this.#operations > 0) this.hasRacedToBegin = true',
      ),
    ],
  },
]
