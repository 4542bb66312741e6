package belfry

import "encoding/json"

// Retry is a retry policy: listed delays alone, or else the other fields.
type Retry struct {
	MaxRetries  *int64  `json:"max_retries,omitempty"`
	Backoff     *string `json:"backoff,omitempty"`
	BaseDelayMs *int64  `json:"base_delay_ms,omitempty"`
	MaxDelayMs  *int64  `json:"max_delay_ms,omitempty"`
	DelaysMs    []int64 `json:"delays_ms,omitempty"`
}

// Callback is a target that receives the outcome of a task.
type Callback struct {
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	Retry     Retry             `json:"retry"`
	TimeoutMs int64             `json:"timeout_ms"`
}

// Delivery has the fields that cron jobs and subscriptions share.
type Delivery struct {
	ID        string            `json:"id"`
	Key       *string           `json:"key"`
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	Retry     Retry             `json:"retry"`
	TimeoutMs int64             `json:"timeout_ms"`
	Queue     *string           `json:"queue"`
	OnSuccess *Callback         `json:"on_success"`
	OnFailure *Callback         `json:"on_failure"`
	OnAttempt *Callback         `json:"on_attempt"`
	MaxAgeMs  *int64            `json:"max_age_ms"`
	Labels    []string          `json:"labels"`
}

// CronJob calls a URL on a schedule.
type CronJob struct {
	Delivery
	Name          string          `json:"name"`
	Method        string          `json:"method"`
	Cron          string          `json:"cron"`
	Timezone      string          `json:"timezone"`
	Payload       json.RawMessage `json:"payload"`
	PayloadBase64 *string         `json:"payload_base64"`
	ContentType   *string         `json:"content_type"`
	Overlap       string          `json:"overlap"`
	CatchUp       string          `json:"catch_up"`
	StartsAt      *string         `json:"starts_at"`
	EndsAt        *string         `json:"ends_at"`
	Status        string          `json:"status"`
}

// Subscription calls a URL for each event of its topics.
type Subscription struct {
	Delivery
	Topic  string          `json:"topic"`
	Filter json.RawMessage `json:"filter"`
	Active bool            `json:"active"`
}

// RateLimit bounds the attempts within a period.
type RateLimit struct {
	Count    int64 `json:"count"`
	PeriodMs int64 `json:"period_ms"`
}

// Queue limits the attempts of the tasks that name it.
type Queue struct {
	Name          string     `json:"name"`
	MaxConcurrent *int64     `json:"max_concurrent"`
	RateLimit     *RateLimit `json:"rate_limit"`
	Ordered       bool       `json:"ordered"`
}

// Integration receives alerts.
type Integration struct {
	ID        string   `json:"id"`
	Key       *string  `json:"key"`
	Name      string   `json:"name"`
	Channel   string   `json:"channel"`
	Events    []string `json:"events"`
	Target    string   `json:"target"`
	Confirmed bool     `json:"confirmed"`
}

// Secret is a value that requests name. The API never returns the value.
type Secret struct {
	Name         string   `json:"name"`
	AllowedHosts []string `json:"allowed_hosts"`
	UpdatedAt    string   `json:"updated_at"`
}

// Workspace contains all other objects.
type Workspace struct {
	ID                        string `json:"id"`
	OrganizationID            string `json:"organization_id"`
	Name                      string `json:"name"`
	KeepsResponsesWithSecrets bool   `json:"keeps_responses_with_secrets"`
	AsymmetricSignatures      bool   `json:"asymmetric_signatures"`
	CreatedAt                 string `json:"created_at"`
}
