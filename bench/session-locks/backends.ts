import { readFile } from 'node:fs/promises'
import pg from 'pg'

export interface Backends {
  readonly connections: number
  /** Bytes that the server's processes for them have to themselves; undefined where they cannot be looked at. */
  readonly bytes: number | undefined
  readonly locks: number
}

/** The connections to this database that hold session locks, as the server and its machine see them. */
export async function readBackends(url: string): Promise<Backends> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ pid: number; locks: number }>(
      "SELECT pid, count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = " +
        '(SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY pid',
    )
    const sizes = await Promise.all(rows.map(({ pid }) => privateBytes(pid)))
    return {
      connections: rows.length,
      locks: rows.reduce((sum, { locks }) => sum + locks, 0),
      bytes: sizes.reduce(
        (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
        0,
      ),
    }
  } finally {
    await client.end()
  }
}

/** Only where the server runs on this machine, and the kernel is one that tells. */
async function privateBytes(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  const sizes = [...text.matchAll(/^Private_\w+:\s+(\d+) kB$/gm)].map(
    ([, kilobytes]) => Number(kilobytes) * 1024,
  )
  return sizes.length === 0 ? undefined : sizes.reduce((sum, size) => sum + size, 0)
}
