import { connectPostgres } from '../engines/postgres-session.ts'

/** The scratch databases that a PostgreSQL server has. */
export function scratchOn(url: string): Promise<readonly string[]> {
  return namesOn(url, "SELECT datname AS name FROM pg_database WHERE datname LIKE 'holdfast_verify_%'")
}

/** The tables of a user's own in a PostgreSQL database. */
export function tablesOf(url: string): Promise<readonly string[]> {
  return namesOn(url, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")
}

async function namesOn(url: string, query: string): Promise<readonly string[]> {
  const client = await connectPostgres(url)
  try {
    const { rows } = await client.query<{ name: string }>(query)
    return rows.map(({ name }) => name)
  } finally {
    await client.end()
  }
}
