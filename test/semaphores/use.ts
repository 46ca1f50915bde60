/** What contenders contend for, and where they write which fence was the last of each slot. */
export const semaphoreKey = 'contended'
export const useTable = 'permit_use'
