import { LockUsageError } from '../../core/errors.ts'
import type { Sessions } from '../../core/session.ts'
import { sessions as mysqlSessions } from '../mysql2/sessions.ts'
import { dressed, type Dress } from '../orm/dressed.ts'
import { mysqlPoolOf, pgPoolOf } from '../orm/lender.ts'
import { rewordable } from '../orm/rewording.ts'
import type { Wire } from '../orm/wire.ts'
import { sessions as pgSessions, type PgSessionOptions } from '../pg/sessions.ts'
import { viewOf } from '../transaction-view.ts'
import { namespaceOf } from './namespace.ts'
import {
  insidesOf,
  type Insides,
  type ConnectionManager,
  type SequelizeInstance,
  type SequelizeTransaction,
} from './instance.ts'
import { lenderOf, roomOf } from './lender.ts'
import { refuseDropped, type Spoken } from './lock-words.ts'
import { withSavepoints } from './nested.ts'
import { dresserOf, runHooks, undress } from './transaction.ts'

/** How PostgreSQL is spoken to through it. */
export type SequelizeSessionOptions = PgSessionOptions

/** By the package beneath. */
export type SequelizeKind = 'pg' | 'mysql2'

interface Below {
  readonly sessions: (manager: ConnectionManager, options: SequelizeSessionOptions) => Sessions<object>
  /** The connection as Sequelize talks to it. */
  readonly spokenTo: (tx: object, wire: Wire) => object
  readonly spoken: Spoken
}

const drivers: Readonly<Record<SequelizeKind, Below>> = {
  pg: {
    sessions: (manager, options) => {
      const { open, listen } = pgSessions(
        pgPoolOf(lenderOf(manager), () => roomOf(manager)),
        options,
      )
      // of a pool that is not Sequelize's own nobody can tell whether it has a connection to spare for listening
      return roomOf(manager) === undefined || listen === undefined ? { open } : { open, listen }
    },
    spokenTo: rewordable,
    spoken: { skips: true, locksInside: true },
  },
  mysql2: {
    sessions: (manager) => mysqlSessions(mysqlPoolOf(lenderOf(manager))),
    // Sequelize has the connection of callbacks
    spokenTo: (tx, wire) => listenedTo(rewordable((tx as { readonly connection: object }).connection, wire)),
    spoken: { skips: false, locksInside: false },
  },
}

/** Throws where Sequelize is not as it is known. */
export function sessionsOf(
  sequelize: SequelizeInstance,
  kind: SequelizeKind,
  options: SequelizeSessionOptions = {},
): Sessions<object> {
  const insides = insidesOf(sequelize)
  mustBeUsual(insides)
  const { sessions, spokenTo, spoken } = drivers[kind]
  const put = dresserOf(sequelize)
  const dress: Dress<object, SequelizeTransaction> = {
    on: (connection, wire) => put(spokenTo(connection, wire)),
    off: undress,
    around: namespaceOf(sequelize),
    stored: runHooks,
  }
  const own = dressed(sessions(insides.connectionManager, options), dress)
  withSavepoints(insides)
  refuseDropped(insides, spoken)
  return own
}

function mustBeUsual({ options: { native, isolationLevel } }: Insides): void {
  if (native === true)
    throw new LockUsageError('sequelize', 'uses pg-native, which tells too little: leave out native')
  if (isolationLevel != null)
    throw new LockUsageError(
      'isolationLevel',
      'of all transactions would not be that of these: leave it out, and say isolation to locks.transaction',
    )
}

type Sending = (...args: unknown[]) => unknown

/** Sequelize sets how many may listen to what `mysql2` gives at once, also where it is not sent at once. */
function listenedTo(connection: object): object {
  const nothing = { setMaxListeners: () => nothing }
  return viewOf(connection, (name, value) => {
    if (name !== 'query' && name !== 'execute') return undefined
    return (...args: unknown[]) => {
      const given = (value as Sending)(...args)
      return given instanceof Promise ? nothing : given
    }
  })
}
