import type { EngineSample } from './engine.ts'

/** The same statements for MySQL and MariaDB. */
export const mysqlSample: EngineSample = {
  setUp: [
    { sql: 'create table counter (id int primary key, n int not null) engine = innodb', params: [] },
    { sql: 'insert into counter values (1, 0)', params: [] },
  ],
  increment: { sql: 'update counter set n = n + 1 where id = ?', params: [1] },
  read: { sql: 'select n from counter where id = ?', params: [1] },
  contests: [
    {
      over: 'a row',
      hold: { sql: 'select n from counter where id = 1 for update', params: [] },
      want: { sql: 'update counter set n = n + 0 where id = 1', params: [] },
    },
    {
      over: 'a named lock',
      hold: { sql: "select get_lock('engines.test', 0) as got", params: [] },
      want: { sql: "select get_lock('engines.test', 20) as got", params: [] },
    },
    {
      over: 'a table',
      hold: { sql: 'lock tables counter write', params: [] },
      want: { sql: 'select n from counter', params: [] },
    },
    {
      over: "a table's definition",
      hold: { sql: 'select n from counter', params: [] },
      want: { sql: 'alter table counter comment = ?', params: ['altered'] },
    },
  ],
  busy: { sql: 'select sleep(1)', params: [] },
}
