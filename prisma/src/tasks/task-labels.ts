// `task_labels` finds the tasks of a label, `task_requests` has the labels of a task. Each statement that changes one of the
// two changes the other.

/**
 * Returns the CTE that makes new tasks findable by their labels.
 * @param source - A query for `workspace_id`, `task_id` and `labels`.
 */
export function storedLabels(source: string): string {
  return `labelled AS (
      INSERT INTO task_labels (workspace_id, label, task_id)
      SELECT s.workspace_id, l.label, s.task_id FROM (${source}) s CROSS JOIN LATERAL unnest(s.labels) AS l (label)
    )`
}

/**
 * Returns the CTEs that replace the labels of the tasks in the CTE `task`. The caller has locked their rows in an earlier
 * statement, because these CTEs read the present labels.
 * @param labels - The parameter with the new labels.
 */
export function changedLabels(labels: string): string {
  return `unlabelled AS (
      DELETE FROM task_labels l USING (
        SELECT task.workspace_id, task.id, k.label
        FROM task JOIN task_requests r ON r.task_id = task.id CROSS JOIN LATERAL unnest(r.labels) AS k (label)
        WHERE k.label <> ALL (coalesce(${labels}::text[], '{}'))
      ) gone
      WHERE l.workspace_id = gone.workspace_id AND l.label = gone.label AND l.task_id = gone.id
    ),
    labelled AS (
      INSERT INTO task_labels (workspace_id, label, task_id)
      SELECT task.workspace_id, k.label, task.id FROM task CROSS JOIN LATERAL unnest(${labels}::text[]) AS k (label)
      ON CONFLICT DO NOTHING
    )`
}

/** Returns the SQL for whether the task `alias` has one of the labels in a parameter. */
export function hasLabel(alias: string, labels: string): string {
  return `EXISTS (
    SELECT FROM task_labels l
    WHERE l.workspace_id = ${alias}.workspace_id AND l.label = ANY (${labels}::text[]) AND l.task_id = ${alias}.id
  )`
}
