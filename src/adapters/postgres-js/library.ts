import { has, type KnownLibrary } from '../library.ts'

export const postgresJsLibrary: KnownLibrary = {
  entry: 'postgres-js',
  what: 'the function of postgres.js',
  is: (members) => has(members, 'unsafe', 'begin', 'typed'),
}
