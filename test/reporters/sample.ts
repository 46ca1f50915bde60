import type { Feature } from '../../src/conformance/feature.ts'
import type {
  LawResult,
  MatrixCell,
  Report,
  SubjectReport,
  TraceEvent,
} from '../../src/conformance/report.ts'

/** What a server, a driver or a law of somebody else might say to take a report over. */
export const hostile = {
  markup: `</script></style><img src=x onerror="alert('1')">&amp;`,
  cdata: ']]><failure/>',
  table: 'a | b || c `d` ```e``` *f* [g](http://h.example/) ~~i~~ _j_ $k$ @octocat #12',
  escapes: 'red \u001b[31mtext\u001b[0m \u0007\u009b2J\r gone',
  forbidden: 'nul \u0000 \u0008 \ufffe \uffff \ud800 turned \u202eround\u202c \u2028 end',
} as const

export const allHostile: string = Object.values(hostile).join('\n')

const exclusion: readonly TraceEvent[] = [
  { actor: 'a', does: 'begin', startMs: 0, endMs: 0.4, outcome: 'done' },
  { actor: 'a', does: 'lock row 1', startMs: 0.6, endMs: 2.2, outcome: 'done', detail: '1 row' },
  { actor: 'b', does: 'begin', startMs: 2.4, endMs: 2.9, outcome: 'done' },
  { actor: 'b', does: 'lock row 1', startMs: 3, endMs: 61.5, outcome: 'waits', detail: 'n = 1' },
  {
    actor: 'watcher',
    does: 'look who waits',
    startMs: 12,
    endMs: 14,
    outcome: 'done',
    detail: 'b waits for a',
  },
  { actor: 'a', does: 'set n = 2', startMs: 20, endMs: 22, outcome: 'done' },
  { actor: 'a', does: 'commit', startMs: 60, endMs: 61, outcome: 'done' },
  {
    actor: 'b',
    does: 'update',
    startMs: 63,
    endMs: 64,
    outcome: 'failed',
    detail: 'could not serialize access',
  },
  { actor: 'c', does: 'lock row 1', startMs: 66, outcome: 'unfinished' },
]

const nasty: readonly TraceEvent[] = [
  {
    actor: hostile.markup,
    does: hostile.escapes,
    startMs: 0,
    endMs: 5,
    outcome: 'failed',
    detail: allHostile,
  },
  { actor: 'b', does: hostile.table, startMs: 1, outcome: 'waits', detail: hostile.cdata },
]

function law(id: string, verdict: LawResult['verdict'], more: Partial<LawResult> = {}): LawResult {
  return {
    id,
    says: `what ${id} says is so`,
    features: ['row-exclusive'],
    verdict,
    tookMs: 12.34,
    runs: 1,
    trace: [],
    ...more,
  }
}

function cell(
  feature: Feature,
  state: MatrixCell['state'],
  more: Partial<Omit<MatrixCell, 'feature' | 'state'>> = {},
): MatrixCell {
  return { feature, state, held: 0, broken: 0, ...more }
}

const pooled =
  'behind a pooler that gives a connection for one transaction, a lock of a session is worth nothing'

const postgres: SubjectReport = {
  title: 'postgres through pg',
  adapter: 'pg',
  dialect: 'postgres',
  version: '18.4',
  tookMs: 5230,
  results: [
    law('rows.excludes', 'holds', {
      says: 'a row that is locked by one is waited for by another',
      features: ['row-exclusive', 'row-shared'],
      trace: exclusion.slice(0, 7),
    }),
    law('rows.newest', 'broken', {
      says: 'who waited for a row sees it as it was committed last',
      reason: 'b saw n = 1, although a had committed n = 2',
      tookMs: 66.2,
      runs: 3,
      trace: exclusion,
    }),
    law('advisory.dies', 'refused', { features: ['advisory-session'], reason: pooled }),
    law('advisory.outlives', 'refused', { features: ['advisory-session'], reason: pooled }),
    law('lease.restart', 'not-promised', {
      features: ['lease'],
      reason: 'the server cannot be started again',
    }),
  ],
  matrix: [
    cell('row-exclusive', 'broken', { held: 1, broken: 1, note: 'rows.newest is broken' }),
    cell('row-shared', 'native', { held: 1 }),
    cell('advisory', 'native', { held: 12 }),
    cell('advisory-session', 'refused', { note: pooled }),
    cell('lease', 'untested', { note: 'no law was run' }),
  ],
}

const sqlite: SubjectReport = {
  title: 'sqlite through better-sqlite3',
  adapter: 'better-sqlite3',
  dialect: 'sqlite',
  version: '3.45.1',
  tookMs: 830,
  results: [
    law('rows.excludes', 'holds', {
      features: ['row-exclusive', 'row-shared'],
      trace: exclusion.slice(0, 2),
    }),
    law('skip.disjoint', 'not-promised', {
      features: ['skip-locked'],
      reason: 'SQLite locks the whole database',
    }),
  ],
  matrix: [
    cell('row-exclusive', 'stronger', { held: 1, note: 'the whole database is locked' }),
    cell('row-shared', 'stronger', { held: 1, note: 'the whole database is locked' }),
    cell('skip-locked', 'unsupported', { note: 'SQLite locks the whole database' }),
    cell('lease', 'emulated', { held: 9, note: 'a row of _leases' }),
  ],
}

const nastyServer: SubjectReport = {
  title: `mine ${hostile.markup}`,
  adapter: hostile.table,
  dialect: 'postgres',
  version: hostile.escapes,
  tookMs: 61_000,
  results: [
    law(`mine: ${hostile.table}`, 'broken', {
      says: allHostile,
      reason: allHostile,
      tookMs: 1200,
      trace: nasty,
    }),
    law(`refused ${hostile.cdata}`, 'refused', { says: hostile.forbidden, reason: allHostile }),
  ],
  matrix: [cell('row-exclusive', 'broken', { broken: 1, note: allHostile })],
  error: `the server went away\n${allHostile}`,
}

const unreached: SubjectReport = {
  title: 'mysql through mysql2',
  adapter: 'mysql2',
  dialect: '',
  version: '',
  tookMs: 3,
  results: [],
  matrix: [],
  error: 'connect ECONNREFUSED 127.0.0.1:3306',
}

function reportOf(subjects: readonly SubjectReport[]): Report {
  return { version: '0.1.0', startedAt: '2026-11-15T08:00:00.000Z', tookMs: 65_400, seed: 42, subjects }
}

/** Every state, every verdict, and a database that could not be reached. */
export const plainSample: Report = reportOf([postgres, sqlite, unreached])

/** The same, and a database that is out for harm. */
export const sample: Report = reportOf([postgres, sqlite, nastyServer, unreached, sqlite])

export const peacefulSample: Report = reportOf([sqlite])

export const emptySample: Report = reportOf([])
