/** Which modes of a metadata lock another session may not have at the same time, by the mode that is asked for. */
const conflicting: Readonly<Record<string, readonly string[]>> = {
  // on a server, a schema, a backup: where no table's modes are used
  INTENTION_EXCLUSIVE: ['SHARED', 'EXCLUSIVE'],
  // on a table or another object
  SHARED: ['INTENTION_EXCLUSIVE', 'EXCLUSIVE'],
  SHARED_HIGH_PRIO: ['EXCLUSIVE'],
  SHARED_READ: ['SHARED_NO_READ_WRITE', 'EXCLUSIVE'],
  SHARED_WRITE: ['SHARED_READ_ONLY', 'SHARED_NO_WRITE', 'SHARED_NO_READ_WRITE', 'EXCLUSIVE'],
  SHARED_WRITE_LOW_PRIO: ['SHARED_READ_ONLY', 'SHARED_NO_WRITE', 'SHARED_NO_READ_WRITE', 'EXCLUSIVE'],
  SHARED_UPGRADABLE: ['SHARED_UPGRADABLE', 'SHARED_NO_WRITE', 'SHARED_NO_READ_WRITE', 'EXCLUSIVE'],
  SHARED_READ_ONLY: ['SHARED_WRITE', 'SHARED_WRITE_LOW_PRIO', 'SHARED_NO_READ_WRITE', 'EXCLUSIVE'],
  SHARED_NO_WRITE: [
    'SHARED_WRITE',
    'SHARED_WRITE_LOW_PRIO',
    'SHARED_UPGRADABLE',
    'SHARED_NO_WRITE',
    'SHARED_NO_READ_WRITE',
    'EXCLUSIVE',
  ],
  SHARED_NO_READ_WRITE: [
    'SHARED_READ',
    'SHARED_WRITE',
    'SHARED_WRITE_LOW_PRIO',
    'SHARED_UPGRADABLE',
    'SHARED_READ_ONLY',
    'SHARED_NO_WRITE',
    'SHARED_NO_READ_WRITE',
    'EXCLUSIVE',
  ],
}

/**
 * Whether who asks for a metadata lock must wait for who has it. EXCLUSIVE meets all; so does a mode that is not known.
 *
 * The same on MySQL and MariaDB, whose source tells them (sql/mdl.cc).
 */
export function conflicts(asked: string, held: string): boolean {
  return conflicting[asked]?.includes(held) ?? true
}
