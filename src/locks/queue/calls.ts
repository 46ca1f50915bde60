/* What the calls about a queue do: loaded with the first of them. */
export { announce } from './announce.ts'
export { claim, complete, extend, reclaim, release } from './claim.ts'
export { completeAll } from './complete-all.ts'
export { adviseIndexes } from './index-advice.ts'
export { stats } from './stats.ts'
export { work } from './work.ts'
