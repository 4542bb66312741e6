// Package provider contains the Terraform provider of Belfry.
package provider

import (
	"context"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-belfry/internal/belfry"
)

const defaultURL = "http://localhost:3000"

type belfryProvider struct {
	version string
}

// New returns a function that creates the provider in a version.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &belfryProvider{version: version} }
}

func (p *belfryProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "belfry"
	resp.Version = p.version
}

func (p *belfryProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Declares the objects of a workspace of Belfry, the self-hostable webhook scheduler.",
		Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				MarkdownDescription: "The URL of the installation. Default: `BELFRY_URL`, then `" + defaultURL + "`.",
				Optional:            true,
			},
			"api_key": schema.StringAttribute{
				MarkdownDescription: "An API key of the workspace. Default: `BELFRY_API_KEY`.",
				Optional:            true,
				Sensitive:           true,
			},
		},
	}
}

type providerModel struct {
	URL    types.String `tfsdk:"url"`
	APIKey types.String `tfsdk:"api_key"`
}

func (p *belfryProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var config providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	for name, value := range map[string]types.String{"url": config.URL, "api_key": config.APIKey} {
		if value.IsUnknown() {
			resp.Diagnostics.AddAttributeError(path.Root(name), "Unknown "+name,
				"The value comes from a resource that does not exist yet. Create it first with -target, or set it directly.")
		}
	}
	url := firstOf(config.URL.ValueString(), os.Getenv("BELFRY_URL"), defaultURL)
	apiKey := firstOf(config.APIKey.ValueString(), os.Getenv("BELFRY_API_KEY"))
	if apiKey == "" && !config.APIKey.IsUnknown() {
		resp.Diagnostics.AddAttributeError(path.Root("api_key"), "Missing api_key",
			"Set api_key or BELFRY_API_KEY to the key of a workspace, bf_...")
	}
	client, err := belfry.New(url, apiKey, p.version)
	if err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("url"), "Invalid url", "url "+err.Error()+".")
	}
	if resp.Diagnostics.HasError() {
		return
	}
	if client.IsInsecure() {
		resp.Diagnostics.AddAttributeWarning(path.Root("url"), "Unencrypted connection",
			"The API key is sent unencrypted to "+url+". Use https.")
	}
	resp.ResourceData = client
	resp.DataSourceData = client
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func (p *belfryProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		func() resource.Resource { return &cronJobResource{} },
		func() resource.Resource { return &integrationResource{} },
		func() resource.Resource { return &queueResource{} },
		func() resource.Resource { return &secretResource{} },
		func() resource.Resource { return &subscriptionResource{} },
	}
}

func (p *belfryProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		func() datasource.DataSource { return &secretDataSource{} },
		func() datasource.DataSource { return &workspaceDataSource{} },
	}
}
