CREATE TABLE ctxweave (key TEXT PRIMARY KEY, value TEXT NOT NULL, parent TEXT AS (CASE WHEN key >= 'records/' AND key < 'records0' THEN json_extract(value, '$.parent') END)) WITHOUT ROWID;
