import { has, type KnownLibrary } from '../library.ts'

export const mariadbLibrary: KnownLibrary = {
  entry: 'mariadb',
  what: 'a pool of mariadb',
  is: (members) => has(members, 'getConnection', 'activeConnections'),
}
