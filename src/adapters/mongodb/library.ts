import { has, type KnownLibrary } from '../library.ts'

export const mongodbLibrary: KnownLibrary = {
  entry: 'mongodb',
  what: 'a client of MongoDB',
  is: (members) => has(members, 'startSession', 'db'),
}
