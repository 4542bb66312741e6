-- Why the attempt of a run started late. Null when it did not, when nothing knows the reason, and in earlier runs.
ALTER TABLE runs ADD COLUMN waited_for text;
