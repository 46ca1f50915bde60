import { createServer } from 'node:net'

import { createConnection, createPool, type Connection, type ConnectionConfig } from 'mariadb'
import { expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { configOf } from '../engines/mariadb-pool.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'

describeEngines(specs, { only: ['mysql', 'mariadb'] })

/** The connector's own errors: it has numbers of its own for them. */
function specs(context: EngineContext): void {
  const connect = async (options: ConnectionConfig = {}): Promise<Connection> => {
    const connection = await createConnection({ ...configOf(context.engine.server.url), ...options })
    connection.on('error', () => {})
    return connection
  }
  const kill = async (id: number | null): Promise<void> => {
    const other = await context.engine.open()
    await context.engine.kill({ ...other, id: String(id) }).finally(() => other.close())
  }
  const lost = (code: string): object => ({
    kind: 'connection-lost',
    transaction: 'unknown',
    retryable: false,
    code,
  })

  test('a session that is killed, and the statement after that, have lost their connection', async () => {
    const connection = await connect()
    const running = caught(connection.query('select sleep(60)'))
    await kill(connection.threadId)
    expect(classifyError(await running).kind).toBe('connection-lost')
    expect(classifyError(await caught(connection.query('select 1')))).toMatchObject(lost('45013'))
  })

  test('so has one whose own side has destroyed it', async () => {
    const connection = await connect()
    const running = caught(connection.query('select sleep(60)'))
    connection.destroy()
    expect(classifyError(await running)).toMatchObject(lost('45004'))
  })

  test('so has one whose server is silent for longer than it was told to wait', async () => {
    const connection = await connect({ socketTimeout: 200 })
    expect(classifyError(await caught(connection.query('select sleep(60)')))).toMatchObject(lost('45026'))
  })

  test('a server that says nothing is not reached', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const { port } = silent.address() as { port: number }
    const options = { host: '127.0.0.1', port, connectTimeout: 200 }
    expect(classifyError(await caught(createConnection(options)))).toMatchObject(lost('45012'))
    silent.close()
  })

  test('a pool without a connection to spare has lost none, and nothing is to be run again', async () => {
    const pool = createPool({
      ...configOf(context.engine.server.url),
      connectionLimit: 1,
      acquireTimeout: 100,
    })
    const held = await pool.getConnection()
    expect(classifyError(await caught(pool.getConnection()))).toMatchObject({
      kind: 'other',
      retryable: false,
      code: '45028',
    })
    await held.release()
    await pool.end()
  })

  test('what the server says has its own numbers, as through another driver', async () => {
    const connection = await connect()
    expect(classifyError(await caught(connection.query('select * from nowhere')))).toMatchObject({
      kind: 'other',
      code: '1146',
    })
    await connection.end()
  })
}
