-- Which set of functions (../functions) this database runs. One row.
create table function_set (
  singleton boolean primary key default true check (singleton),
  digest    text not null
);
