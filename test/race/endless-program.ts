import { explore } from '../../src/entries/race.ts'
import options from './endless.ts'

/* A program of a user's that does nothing about signals. */

await explore(options)
