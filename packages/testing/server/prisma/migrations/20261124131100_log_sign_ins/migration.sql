-- The sign-ins of an account and the changes of its password. The audit logs of its organizations have the same entries.
CREATE TABLE account_log (
  id         uuid PRIMARY KEY,
  user_id    uuid NOT NULL,
  action     text NOT NULL,
  address    text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX account_log_user_id_id_idx ON account_log (user_id, id);
