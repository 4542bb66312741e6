package provider

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-belfry/internal/belfry"
)

func TestFindsTheAttributeOfAField(t *testing.T) {
	for field, want := range map[string]string{
		"cron":                         "cron",
		"retry.max_retries":            "retry.max_retries",
		"retry.unknown":                "retry",
		"headers.X.Y":                  `headers["X.Y"]`,
		"payload.a.b":                  "payload",
		"labels.2":                     "labels",
		"on_failure.url":               "on_failure.url",
		"on_failure.retry.backoff":     "on_failure.retry.backoff",
		"on_failure.headers.X-Request": `on_failure.headers["X-Request"]`,
	} {
		if at, ok := attributePath(cronJobSchema().Attributes, field); !ok || at.String() != want {
			t.Errorf("%s: %s", field, at)
		}
	}
	if _, ok := attributePath(cronJobSchema().Attributes, "Idempotency-Key"); ok {
		t.Error("a header of the request is no attribute")
	}
}

func TestTakesOverAnObjectWhoseCreationWasNotAnswered(t *testing.T) {
	var methods []string
	var change map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods = append(methods, r.Method)
		switch {
		case r.Method == http.MethodPost && len(methods) == 1:
			w.WriteHeader(500)
		case r.Method == http.MethodPost:
			w.WriteHeader(409)
			_, _ = w.Write([]byte(`{"code":"key_in_use","detail":"In use.","request_id":"r"}`))
		case r.Method == http.MethodGet:
			_, _ = w.Write([]byte(`{"data":[{"id":"int_1","key":"shop/x"}],"next_cursor":null}`))
		default:
			_ = json.NewDecoder(r.Body).Decode(&change)
			_, _ = w.Write([]byte(`{"id":"int_1"}`))
		}
	}))
	defer server.Close()
	client, err := belfry.New(server.URL, "bf_key", "dev")
	if err != nil {
		t.Fatal(err)
	}
	var made belfry.Object
	body := map[string]any{"key": "shop/x", "name": "x", "channel": "slack"}
	err = (&connection{client}).create(t.Context(), belfry.Integrations, body, &made)
	if err != nil || !made.Is("id", "int_1") {
		t.Errorf("made %s, error %v after %v", made, err, methods)
	}
	if canonical(change) != `{"key":"shop/x","name":"x"}` {
		t.Errorf("the change was %v", change)
	}
}

func TestDeclaresSchemasThatTerraformAccepts(t *testing.T) {
	for name, one := range map[string]schema.Schema{
		"cron_job": cronJobSchema(), "subscription": subscriptionSchema(), "queue": queueSchema(), "integration": integrationSchema(),
		"secret": secretSchema(),
	} {
		if problems := one.ValidateImplementation(t.Context()); problems.HasError() {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestReadsAnAnswerAndWritesTheSameBody(t *testing.T) {
	const retry = `"retry":{"backoff":"fixed","base_delay_ms":1000,"max_delay_ms":2000,"max_retries":1}`
	const callback = `{"headers":{},` + retry + `,"timeout_ms":1000,"url":"https://example.com/failed"}`
	for _, text := range []string{
		`{"active":true,"filter":[{"op":"eq","path":"a","value":1}],"headers":{"X-A":"b"},"key":"shop/x",` +
			`"labels":["a","b"],"max_age_ms":60000,"on_attempt":null,"on_failure":` + callback + `,"on_success":null,` +
			`"queue":null,` + retry + `,"timeout_ms":30000,"topic":"orders.*","url":"https://example.com/"}`,
		`{"active":false,"filter":[],"headers":{},"key":null,"labels":[],"max_age_ms":null,` +
			`"on_attempt":null,"on_failure":null,"on_success":null,"queue":"slow","retry":{"delays_ms":[0,60000]},` +
			`"timeout_ms":1000,"topic":"*","url":"https://example.com/"}`,
	} {
		var answer belfry.Object
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatal(err)
		}
		state := values{}
		for name, one := range subscriptionFields {
			value, err := one.value(answer[name])
			if err != nil {
				t.Fatal(name, err)
			}
			state[name] = value
		}
		if body := canonical(subscriptionFields.body(state)); body != text {
			t.Errorf("%s\nbecame\n%s", text, body)
		}
	}
	if value, err := subscriptionFields["timeout_ms"].value(json.RawMessage(`"soon"`)); err == nil {
		t.Errorf("a text was read as %v", value)
	}
}

func TestKeepsTheCaseOfHosts(t *testing.T) {
	hosts := secretFields["allowed_hosts"]
	for now, want := range map[string]string{
		`["b.example.com","a.example.com"]`: `["A.example.com","b.example.com"]`,
		`["a.example.com"]`:                 `["a.example.com"]`,
		`null`:                              `null`,
	} {
		own := values{"allowed_hosts": types.SetValueMust(types.StringType, []attr.Value{
			types.StringValue("A.example.com"), types.StringValue("b.example.com"),
		})}
		state := tfsdk.State{Schema: secretSchema()}
		diagnostics := diag.Diagnostics{}
		answer := belfry.Object{"name": json.RawMessage(`"A"`), "allowed_hosts": json.RawMessage(now)}
		writeSecret(t.Context(), complete(own), answer, &state, &diagnostics)
		var kept types.Set
		diagnostics.Append(state.GetAttribute(t.Context(), path.Root("allowed_hosts"), &kept)...)
		if got := canonical(hosts.json(kept)); diagnostics.HasError() || got != want {
			t.Errorf("%s became %s, not %s: %v", now, got, want, diagnostics)
		}
	}
}

// complete returns the attributes of a secret that has a value.
func complete(own values) values {
	for _, name := range []string{"name", "value", "updated_at"} {
		own[name] = types.StringValue("x")
	}
	own["value_wo"], own["value_wo_version"] = types.StringNull(), types.Int64Null()
	return own
}

func TestComparesSpellings(t *testing.T) {
	for _, one := range []struct {
		same sameAs
		a, b string
		want bool
	}{
		{sameCron, "0  3 * * *", "0 3 * * *", true},
		{sameCron, "0 3 * * *", "0 4 * * *", false},
		{sameTime, "2030-01-01T01:00:00+01:00", "2030-01-01T00:00:00.000Z", true},
		{sameTime, "2030-01-01T01:00:00Z", "2030-01-01T00:00:00Z", false},
		{sameTime, "soon", "soon", false},
		{sameJSON, `{"a":1,"b":[1, 2]}`, `{ "b": [1,2], "a": 1 }`, true},
		{sameJSON, `12345678901234567890`, `12345678901234567891`, false},
		{sameJSON, `{"a":1} x`, `{"a":1}`, false},
	} {
		if one.same(one.a, one.b) != one.want {
			t.Errorf("%s and %s", one.a, one.b)
		}
	}
}
