import mysql, { type PoolConnection, type ResultSetHeader } from 'mysql2/promise'

const levels: Readonly<Record<string, string>> = {
  ReadUncommitted: 'READ UNCOMMITTED',
  ReadCommitted: 'READ COMMITTED',
  RepeatableRead: 'REPEATABLE READ',
  Serializable: 'SERIALIZABLE',
}

/** What such a client gives to the work of a transaction: these calls, and nothing of the driver below. */
export interface RawCalls {
  $queryRawUnsafe(sql: string, ...values: readonly unknown[]): Promise<unknown>
  $executeRawUnsafe(sql: string, ...values: readonly unknown[]): Promise<number>
}

export interface MysqlForge extends RawCalls {
  $transaction<T>(
    work: (tx: RawCalls) => Promise<T>,
    options?: { readonly isolationLevel?: string },
  ): Promise<T>
  $disconnect(): Promise<void>
}

/** A client of that shape on a real pool of `mysql2`, as small as one can be. Like the others, it asks nothing at COMMIT. */
export function openMysqlForge(url: string, connectionLimit: number): MysqlForge {
  const pool = mysql.createPool({ uri: url, connectionLimit })
  return {
    ...rawOn(pool),
    $transaction: async (work, { isolationLevel } = {}) => {
      const connection = await pool.getConnection()
      try {
        return await inTransaction(connection, isolationLevel, () => work(rawOn(connection)))
      } finally {
        connection.release()
      }
    },
    $disconnect: () => pool.end(),
  }
}

async function inTransaction<T>(
  connection: PoolConnection,
  level: string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (level !== undefined) await connection.query(`SET TRANSACTION ISOLATION LEVEL ${levels[level]}`)
  await connection.query('START TRANSACTION')
  let result: T
  try {
    result = await work()
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => {})
    throw error
  }
  await connection.query('COMMIT')
  return result
}

function rawOn(on: Pick<PoolConnection, 'query'>): RawCalls {
  return {
    $queryRawUnsafe: async (sql, ...values) => (await on.query(sql, [...values]))[0],
    $executeRawUnsafe: async (sql, ...values) => {
      const [answer] = await on.query<ResultSetHeader>(sql, [...values])
      return answer.affectedRows
    },
  }
}
