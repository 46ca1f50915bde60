import type { Finding } from '../../core/attestation.ts'
import type { Row } from '../../core/statement.ts'
import { untested } from '../finding-clusters.ts'
import { sql } from '../sql.ts'
import type { Question } from '../tools.ts'
import { isTrue } from './boolean.ts'

/** What tells PostgreSQL's relatives from it. */
export const kind: Question = {
  ask: sql(
    "SELECT version() AS version, EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') AS citus, " +
      "EXISTS (SELECT 1 FROM pg_proc WHERE proname = 'aurora_version') AS aurora",
  ),
  unknown: 'whether the server is a relative of PostgreSQL',
}

/**
 * Relatives of PostgreSQL, by what their documentation says that they answer.
 *
 * @see https://www.cockroachlabs.com/docs/stable/functions-and-operators
 * @see https://docs.yugabyte.com/stable/explore/transactions/explicit-locking/
 * @see https://docs.citusdata.com/en/stable/develop/api_udf.html
 * @see https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora_version.html
 */
const relatives: readonly { readonly isIt: (row: Row) => boolean; readonly finding: Finding }[] = [
  {
    isIt: ({ version }) => String(version).startsWith('CockroachDB '),
    finding: untested(
      'cockroachdb',
      'CockroachDB',
      'It speaks the protocol of PostgreSQL and locks in its own way.',
    ),
  },
  {
    isIt: ({ version }) => /^PostgreSQL [\d.]+-YB-/.test(String(version)),
    finding: untested(
      'yugabytedb',
      'YugabyteDB',
      'It runs the code of PostgreSQL on a storage that locks in its own way.',
    ),
  },
  {
    isIt: ({ citus }) => isTrue(citus),
    finding: untested('citus', 'a node of Citus', 'A statement is sent on to the nodes that have its rows.'),
  },
  {
    isIt: ({ aurora }) => isTrue(aurora),
    finding: untested(
      'aurora',
      'Amazon Aurora',
      'One instance writes, and the others only read: a lock that is taken on a reader excludes nobody.',
    ),
  },
]

/** Says so where a server is one of them. */
export function readKind(row: Row | undefined): readonly Finding[] {
  return row === undefined ? [] : relatives.filter(({ isIt }) => isIt(row)).map(({ finding }) => finding)
}
