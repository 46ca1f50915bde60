import { isOn, type SettingRule } from '../finding-settings.ts'
import { clusterRules } from './doctor-clusters.ts'

const levels = (...names: readonly string[]): ((value: string) => boolean) => {
  return (value) => names.includes(value.toUpperCase().replaceAll(' ', '-'))
}

const readOnly = {
  isAmiss: isOn,
  id: 'read-only',
  severity: 'error',
  title: 'this server is read-only, as replicas are',
  why: 'Leases cannot be written here, and the advisory locks of this server exclude nobody on the primary.',
  mend: 'Connect to the primary.',
} as const

const isolation = {
  why: "A plain read shows the data as of the transaction's first read, even after a wait for a lock: a write based on it undoes the work of the last holder. Claims that skip locked rows cause deadlocks.",
  mend: 'Read through locks.rows(...), or set transaction_isolation to READ-COMMITTED.',
} as const

/** What matters on every server of the family, by the names that SHOW VARIABLES uses. */
const family: readonly SettingRule[] = [
  { setting: 'read_only', ...readOnly },
  {
    setting: 'wsrep_on',
    isAmiss: isOn,
    id: 'galera',
    severity: 'warning',
    title: 'this server is a node of a Galera cluster (wsrep_on)',
    why: 'The other nodes do not know its locks: two transactions on two nodes both get the row, and one of them fails at COMMIT, if both have written it. Holdfast refuses advisory locks and table locks here.',
    mend: 'Use locks.lease(...), write the rows that you lock or send all transactions that lock to one node, and let locks.transaction(...) retry what failed.',
  },
  {
    setting: 'default_storage_engine',
    isAmiss: (value) => value.toLowerCase() !== 'innodb',
    id: 'storage-engine',
    severity: 'warning',
    title: 'new tables are created with {value}, not with InnoDB (default_storage_engine)',
    why: 'Only InnoDB has row locks and transactions: on other tables FOR UPDATE locks no row, and nothing is rolled back.',
    mend: 'Set default_storage_engine to InnoDB, and convert tables that were created without ENGINE=InnoDB.',
  },
  {
    setting: 'innodb_deadlock_detect',
    isAmiss: (value) => !isOn(value),
    id: 'deadlock-detection-off',
    severity: 'warning',
    title: 'deadlocks are not detected (innodb_deadlock_detect = OFF)',
    why: 'Two transactions that wait for each other do so until innodb_lock_wait_timeout ends one of them.',
    mend: 'Set innodb_deadlock_detect to ON, or keep innodb_lock_wait_timeout at a few seconds.',
  },
  {
    setting: 'innodb_rollback_on_timeout',
    isAmiss: isOn,
    id: 'rollback-on-timeout',
    severity: 'warning',
    title: 'a lock timeout rolls back the whole transaction (innodb_rollback_on_timeout)',
    why: 'Code that catches the error and goes on writes outside the transaction that it believes it is in. Holdfast always ends the transaction.',
    mend: 'Retry the whole transaction after a timeout, or start the server with innodb_rollback_on_timeout = OFF, its default.',
  },
  {
    setting: 'innodb_flush_log_at_trx_commit',
    isAmiss: (value) => value !== '1',
    id: 'commit-not-durable',
    severity: 'warning',
    title: 'COMMIT answers before the change is on disk (innodb_flush_log_at_trx_commit = {value})',
    why: 'After a crash a lease that was granted may be gone, and another holder gets it: with a fencing token that is not higher if the clock went back.',
    mend: 'Set innodb_flush_log_at_trx_commit to 1, its default.',
  },
  {
    setting: 'autocommit',
    isAmiss: (value) => !isOn(value),
    id: 'autocommit-off',
    severity: 'warning',
    title: 'every statement begins a transaction that stays open (autocommit = OFF)',
    why: 'A plain read keeps its snapshot, and a plain write its row locks, until somebody commits.',
    mend: 'Set autocommit to ON, its default, for the connections of the application.',
  },
  {
    setting: 'innodb_lock_wait_timeout',
    isAmiss: (value) => Number(value) > 60,
    id: 'lock-wait-long',
    severity: 'warning',
    title: 'a wait for a row ends only after {value} seconds (innodb_lock_wait_timeout)',
    why: 'A waiter behind a holder that hangs keeps a connection for that long.',
    mend: 'Set wait: { timeoutMs } or lockTimeoutMs in each call, or set innodb_lock_wait_timeout to 50, its default, or less.',
  },
  {
    setting: 'innodb_lock_wait_timeout',
    isAmiss: (value) => Number(value) < 5,
    id: 'lock-wait-short',
    severity: 'note',
    title: 'a wait for a row ends after only {value} s (innodb_lock_wait_timeout)',
    why: 'Calls that should wait until the lock is free fail as soon as a holder takes longer.',
    mend: 'Set wait: { timeoutMs } in each call, which overrides the setting, or raise it.',
  },
  {
    setting: 'performance_schema',
    isAmiss: (value) => !isOn(value),
    id: 'performance-schema-off',
    severity: 'note',
    title: 'the server does not keep lists of its locks (performance_schema = OFF)',
    why: 'Locks work anyway, but locks.inspect() and `holdfast inspect` see less.',
    mend: 'Start the server with performance_schema = ON.',
  },
]

/** The variable's name changed with MySQL 5.7.20 and MariaDB 11.1; servers in between have both. */
function isolationRules(setting: string): readonly SettingRule[] {
  return [
    {
      setting,
      ...isolation,
      isAmiss: levels('REPEATABLE-READ'),
      id: 'isolation-default',
      severity: 'note',
      title: 'transactions are {value} unless they ask for another level',
    },
    {
      setting,
      isAmiss: levels('READ-UNCOMMITTED', 'SERIALIZABLE'),
      id: 'isolation-default',
      severity: 'warning',
      title: 'transactions are {value} unless they ask for another level',
      why: 'READ-UNCOMMITTED shows data that is never committed; SERIALIZABLE makes every plain read take a lock, which causes deadlocks.',
      mend: 'Set transaction_isolation to READ-COMMITTED, and ask for another level where it is needed.',
    },
  ]
}

export const mysqlRules: readonly SettingRule[] = [
  ...family,
  ...clusterRules,
  ...isolationRules('transaction_isolation'),
  { setting: 'super_read_only', ...readOnly },
  {
    setting: 'group_replication_single_primary_mode',
    isAmiss: (value) => value.toUpperCase() === 'OFF',
    id: 'several-primaries',
    severity: 'warning',
    title: 'this server belongs to a group with several primaries',
    why: 'The others do not know its locks: two transactions on two servers both get the row, and one of them fails at COMMIT, if both have written it. Holdfast refuses advisory locks and table locks here.',
    mend: 'Use locks.lease(...), write the rows that you lock or send all transactions that lock to one member, and let locks.transaction(...) retry what failed.',
  },
]

export const mariadbRules: readonly SettingRule[] = [
  ...family,
  ...isolationRules('tx_isolation'),
  ...isolationRules('transaction_isolation'),
  {
    setting: 'innodb_snapshot_isolation',
    isAmiss: isOn,
    id: 'snapshot-isolation',
    severity: 'note',
    title: 'a row that has changed since the snapshot cannot be locked (innodb_snapshot_isolation)',
    why: 'At REPEATABLE-READ such a lock fails with error 1020 and rolls the transaction back. No update is lost, but the transaction has to be retried.',
    mend: 'Lock first and read afterwards, at READ-COMMITTED; locks.transaction(...) retries what failed.',
  },
]
