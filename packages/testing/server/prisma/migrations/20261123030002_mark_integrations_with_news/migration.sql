-- Whether something has happened that the integration may have to be told of. True at first: the next round looks once.
ALTER TABLE integrations ADD COLUMN has_news boolean NOT NULL DEFAULT true;
CREATE INDEX integrations_news_idx ON integrations (quiet_until) WHERE has_news;

-- How far integrations have been marked. Apart from noticed_until, which the previous version moves without marking.
ALTER TABLE alert_rounds ADD COLUMN marked_until timestamptz(3) NOT NULL DEFAULT now();
