import { connectPostgres } from '../engines/postgres-session.ts'

/** The scratch databases that a PostgreSQL server has. */
export async function scratchOn(url: string): Promise<readonly string[]> {
  const client = await connectPostgres(url)
  try {
    const { rows } = await client.query<{ name: string }>(
      "SELECT datname AS name FROM pg_database WHERE datname LIKE 'holdfast_verify_%'",
    )
    return rows.map(({ name }) => name)
  } finally {
    await client.end()
  }
}
