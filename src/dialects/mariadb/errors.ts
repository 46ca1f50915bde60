/**
 * MySQL's own table: nothing in an error says which of the two servers sent it. Where both may have, MySQL comes first in
 * the registry, and the error is called MySQL's.
 */
export { errors } from '../mysql/errors.ts'
