//! Cuts and categories as a binned table stores them.

use bitgrain_formats::bins::{BinFeature, FeatureCuts};

use super::categories::Categories;
use super::cuts::FeatureBins;
use super::{BinCuts, FeatureError, FeatureKind, Schema};

/// Returns the features of a binned table.
pub(crate) fn stored_features(cuts: &BinCuts, schema: &Schema) -> Vec<BinFeature> {
    let feature = |(feature, name): (usize, &String)| BinFeature {
        name: name.clone(),
        missing: cuts.map().missing_bin(feature).is_some(),
        cuts: match (cuts.kind(feature), cuts.precise_cuts(feature)) {
            (FeatureKind::Categorical, _) => FeatureCuts::Categories {
                codes: cuts.categories(feature).to_vec(),
                labels: schema.labels(feature).to_vec(),
            },
            (FeatureKind::Numeric, Some(precise)) => FeatureCuts::F64(precise.to_vec()),
            (FeatureKind::Numeric, None) => FeatureCuts::F32(cuts.cuts(feature).to_vec()),
        },
    };
    schema.names().iter().enumerate().map(feature).collect()
}

/// Returns the cuts and the schema of the features of a binned table, whose parser has checked their order.
pub(crate) fn cuts_of(features: &[BinFeature]) -> Result<(BinCuts, Schema), FeatureError> {
    let bins = features.iter().map(|feature| match &feature.cuts {
        FeatureCuts::F32(cuts) => FeatureBins::Cuts(cuts[..].into()),
        FeatureCuts::F64(cuts) => FeatureBins::Precise(cuts[..].into()),
        FeatureCuts::Categories { codes, .. } => FeatureBins::Categories(Categories::new(codes.clone())),
    });
    let cuts = BinCuts::from_bins(bins.collect(), features.iter().map(|feature| feature.missing).collect())?;
    let mut schema = Schema::new(features.iter().map(|feature| feature.name.clone()).collect())?;
    for (at, feature) in features.iter().enumerate() {
        if let FeatureCuts::Categories { labels, .. } = &feature.cuts {
            schema = schema.with_labels(at, labels.clone())?;
        }
    }
    Ok((cuts, schema))
}
