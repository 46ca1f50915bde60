/** When the process started, in the kernel's own count; `undefined` when it is gone or only a zombie. */
export function startTime(pid: number): string | undefined
/** The process, its children, theirs and so on; parents come before their children. */
export function withDescendants(root: number): number[]
/** The processes that were started with this entry (`NAME=value`) in their environment. */
export function marked(mark: string): number[]
/** Whether no thread of the process runs any more: SIGSTOP takes a moment to reach them all. */
export function isStopped(pid: number): boolean
/** Sends a signal to each process; one that is gone already is passed over. */
export function signal(pids: readonly number[], name: NodeJS.Signals): void
