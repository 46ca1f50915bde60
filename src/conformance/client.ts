import type { Session, Sessions, TransactionStart } from '../core/session.ts'
import type { Row, Statement } from '../core/statement.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { DialectTools } from '../dialects/tools.ts'
import { joinLocks } from '../locks.ts'
import type { Client, Connected, Fault, Sabotage, Subject } from './subject.ts'

/** What is known of the server, so that no client has to ask again. */
export interface KnownServer {
  readonly dialect: Dialect
  readonly version: string
  readonly tools: DialectTools
}

export interface ClientOptions {
  readonly size: number
  readonly server: KnownServer
  readonly sabotage?: Sabotage | undefined
  readonly fault?: Fault | undefined
}

/** Opens one more application on a subject: worse than it should be, when it is told how. */
export async function openClient({ connect }: Subject, options: ClientOptions): Promise<Client> {
  const { size, server, sabotage, fault } = options
  const connected = await connect(size)
  const dialect = sabotage?.dialect?.(server.dialect) ?? server.dialect
  const changes = [fault, sabotage?.session].filter((change) => change !== undefined)
  const change: Fault = (session) => changes.reduce((changed, next) => next(changed), session)
  const isWhole = changes.length === 0
  const client = clientOn({ size, ...connected, isWhole }, { ...server, dialect }, change)
  return sabotage?.client?.(client, server.tools) ?? client
}

function clientOn(
  {
    sessions,
    size,
    close,
    isWhole,
    run: runOn,
  }: Connected & { readonly size: number; readonly isWhole: boolean },
  server: KnownServer,
  change: Fault,
): Client {
  const open = new WeakMap<object, Session<object>>()
  const tracked: Sessions<object> = {
    ...sessions,
    open: async () => {
      const session = change(await sessions.open())
      const begun = <T>(rows: T): T => {
        open.set(session.tx, session)
        return rows
      }
      const { ride } = session
      // what it inherits may be a getter: `tx` is there only inside of a transaction
      return Object.create(session, {
        begin: { value: (start?: TransactionStart) => session.begin(start).then(begun) },
        // what is changed about its beginning is changed about `begin`
        ride: {
          value: ride && isWhole ? (...how: Parameters<typeof ride>) => begun(ride(...how)) : undefined,
        },
      }) as Session<object>
    },
  }
  const run = async (tx: object, statement: Statement): Promise<readonly Row[]> => {
    const session = open.get(tx)
    if (session === undefined) throw new TypeError('that is no transaction of this client')
    return runOn === undefined ? session.run(statement) : runOn(tx, statement)
  }
  const { dialect, version } = server
  const locks = joinLocks(tracked, [], { dialect, version })
  return { locks, sessions: tracked, server: { dialect, version }, size, run, close }
}
