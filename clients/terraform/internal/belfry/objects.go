package belfry

import "encoding/json"

// Object is a cron job, a subscription or a queue: the fields of an answer, by their names.
type Object map[string]json.RawMessage

// Text returns a field that is text, and nil for null.
func (o Object) Text(name string) *string {
	var text *string
	if json.Unmarshal(o[name], &text) != nil {
		return nil
	}
	return text
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
