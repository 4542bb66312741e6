package provider

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/resourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-belfry/internal/belfry"
)

var secretName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

type secretResource struct{ connection }

var (
	_ resource.ResourceWithImportState      = &secretResource{}
	_ resource.ResourceWithConfigValidators = &secretResource{}
)

// SecretModel is a secret in a state.
type SecretModel struct {
	Name           types.String `tfsdk:"name"`
	Value          types.String `tfsdk:"value"`
	ValueWO        types.String `tfsdk:"value_wo"`
	ValueWOVersion types.Int64  `tfsdk:"value_wo_version"`
	AllowedHosts   []string     `tfsdk:"allowed_hosts"`
	UpdatedAt      types.String `tfsdk:"updated_at"`
}

func (m *SecretModel) fill(from belfry.Secret) {
	m.Name = types.StringValue(from.Name)
	if !haveSameHosts(m.AllowedHosts, from.AllowedHosts) {
		m.AllowedHosts = from.AllowedHosts
	}
	m.UpdatedAt = types.StringValue(from.UpdatedAt)
}

// haveSameHosts ignores the order and the case of hosts. Nil allows every host.
func haveSameHosts(a, b []string) bool {
	spell := func(hosts []string) string {
		lower := strings.Split(strings.ToLower(strings.Join(hosts, " ")), " ")
		slices.Sort(lower)
		return strings.Join(lower, " ")
	}
	return (a == nil) == (b == nil) && spell(a) == spell(b)
}

func (r *secretResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "belfry_secret"
}

func (r *secretResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = secretSchema()
}

func secretSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: "A value that requests name with `{{ secrets.NAME }}`.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				MarkdownDescription: "The name in references. Another name creates another secret.",
				Required:            true,
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
				Validators: []validator.String{stringvalidator.RegexMatches(secretName,
					"must be 1 to 64 capital letters, digits and _, and start with a letter")},
			},
			"value": schema.StringAttribute{
				MarkdownDescription: "The value, which is stored in the state.",
				Optional:            true,
				Sensitive:           true,
			},
			"value_wo": schema.StringAttribute{
				MarkdownDescription: "The value, which is not stored. Needs Terraform 1.11 or OpenTofu 1.11.",
				Optional:            true,
				Sensitive:           true,
				WriteOnly:           true,
				Validators:          []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("value_wo_version"))},
			},
			"value_wo_version": schema.Int64Attribute{
				MarkdownDescription: "Another number sends `value_wo` again.",
				Optional:            true,
				Validators:          []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("value_wo"))},
			},
			"allowed_hosts": schema.SetAttribute{
				MarkdownDescription: "The hosts that it may be sent to, such as `api.example.com` or `*.example.com`. Default: every host.",
				ElementType:         types.StringType,
				Optional:            true,
				Validators:          []validator.Set{setvalidator.SizeBetween(1, 20)},
			},
			"updated_at": schema.StringAttribute{
				MarkdownDescription: "When the value or the hosts changed.",
				Computed:            true,
			},
		},
	}
}

func (r *secretResource) ConfigValidators(context.Context) []resource.ConfigValidator {
	return []resource.ConfigValidator{
		resourcevalidator.ExactlyOneOf(path.MatchRoot("value"), path.MatchRoot("value_wo")),
	}
}

func (r *secretResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan SecretModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	existing, err := r.client.FindSecret(ctx, plan.Name.ValueString())
	if err != nil {
		report(&resp.Diagnostics, "secret", err, nil)
		return
	}
	if existing != nil {
		resp.Diagnostics.AddAttributeError(path.Root("name"), "The secret exists",
			"The workspace has a secret "+existing.Name+". Import it, or choose another name.")
		return
	}
	r.put(ctx, req.Config, plan, &resp.State, &resp.Diagnostics)
}

func (r *secretResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan SecretModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if !resp.Diagnostics.HasError() {
		r.put(ctx, req.Config, plan, &resp.State, &resp.Diagnostics)
	}
}

func (r *secretResource) put(
	ctx context.Context, from tfsdk.Config, plan SecretModel, to *tfsdk.State, diagnostics *diag.Diagnostics,
) {
	var config SecretModel
	diagnostics.Append(from.Get(ctx, &config)...)
	if diagnostics.HasError() {
		return
	}
	// Only the configuration has the value of a write-only attribute.
	valueAttribute, value := "value", config.Value
	if value.IsNull() {
		valueAttribute, value = "value_wo", config.ValueWO
	}
	body := map[string]any{"value": value.ValueString(), "allowed_hosts": plan.AllowedHosts}
	if plan.AllowedHosts == nil {
		body["allowed_hosts"] = nil
	}
	var secret belfry.Secret
	if err := r.client.Put(ctx, belfry.At(belfry.Secrets, plan.Name.ValueString()), body, &secret); err != nil {
		report(diagnostics, "secret", renamed(err, "value", valueAttribute), secretSchema().Attributes)
		return
	}
	plan.fill(secret)
	diagnostics.Append(to.Set(ctx, &plan)...)
}

func (r *secretResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state SecretModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := r.client.FindSecret(ctx, state.Name.ValueString())
	if err != nil {
		report(&resp.Diagnostics, "secret", err, nil)
		return
	}
	if found == nil {
		resp.State.RemoveResource(ctx)
		return
	}
	// The API does not return values. After a change from elsewhere the next plan sets the value again.
	if state.UpdatedAt.ValueString() != found.UpdatedAt {
		state.Value = types.StringNull()
		state.ValueWOVersion = types.Int64Null()
	}
	state.fill(*found)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (r *secretResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.delete(ctx, belfry.Secrets, "name", "secret", req, resp)
}

func (r *secretResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	resource.ImportStatePassthroughID(ctx, path.Root("name"), req, resp)
}
