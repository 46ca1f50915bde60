import { letter } from '../sql-text.ts'
import { rollbackOfAll, wordEnd, type FateWords } from '../statement-fate.ts'

/** Assigned to anywhere in a SET, in each of the ways to name a variable of the session. */
const assigned = (names: string): string =>
  `set (?:[^;]* , )?(?:(?:session|local|global|persist) |@ @ (?:\\w+ \\. )?)?"?(?:${names})`

/**
 * What commits by itself: https://dev.mysql.com/doc/refman/9.0/en/implicit-commit.html,
 * https://mariadb.com/kb/en/sql-statements-that-cause-an-implicit-commit/. LOCK and FLUSH leave a lock on the
 * connection as well.
 */
const always = [
  'xa',
  'alter',
  `create(?!(?: or replace)? temporary${wordEnd})`,
  `drop(?! (?:temporary|prepare)${wordEnd})`,
  'rename',
  'truncate',
  'grant',
  'revoke',
  '(?:un)?lock (?:tables?|instance)',
  'flush',
  '(?:analyze|check|optimize|repair) (?:(?:local|no_write_to_binlog) )?tables?',
  '(?:un)?install',
  assigned('autocommit|completion_type|password|default role'),
  'do [^;]*release_all_locks',
].join('|')

const control = ['commit', rollbackOfAll, 'start transaction'].join('|')
const ends = `${control}|begin(?! not${wordEnd})|${always}`

/** What only MariaDB runs outside of a procedure. There BEGIN alone is no transaction. */
const blocks = String.raw`(?:set statement [^;]*for )?(?:(?:\d+ )?[^ ]+ : )?(?:begin not|if|case|loop|while|repeat|for)`

/** Of what is in neither list, such as CALL, the server is asked. */
export const fateWords: FateWords = {
  spelling: {
    quotes: `'"\``,
    backslashes: 'everywhere',
    hasHashComments: true,
    dashesNeedBlank: true,
    runsComments: () => true,
    // MariaDB; and MySQL, to which a comment with an M is like any other
    nestsSkipped: [() => true, (beginning) => !beginning.includes('M')],
  },
  ends: `${ends}|set statement [^;]*for (?:${ends})`,
  blocks: {
    of: blocks,
    // these words stand nowhere else but as names, and behind DECLARE HANDLER
    ends: `(?<!"|${letter}|[.@] )((?:${control})${wordEnd}|(?<=(?:;|then|else|do|loop|repeat|atomic|begin) )(?:${always})${wordEnd})`,
  },
  keeps: `select|insert|update|delete|replace|with|set(?! statement)|savepoint|release|rollback(?: work)? to|show|do|explain|describe|desc|values|table`,
}
