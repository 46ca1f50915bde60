import { register } from 'node:module'

/*
 * Lets Node run the TypeScript of this repository as it is after the build: types taken away, nothing added. (tsx keeps
 * the name of every function by a call each time that one is made, and that would be measured too.)
 */
register('./typescript-hooks.mjs', import.meta.url)
