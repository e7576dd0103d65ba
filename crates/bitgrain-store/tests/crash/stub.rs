//! TEMPORARY: what the engine lacks so far.
use bitgrain_store::*;
pub struct Frame { pub values: Vec<f32>, pub provenance: Provenance }
#[derive(Default)]
pub struct CompactOptions;
pub struct Report { pub damaged: Vec<Damage> }
pub struct B;
impl B {
    pub fn put_with(&mut self, _: &TensorId, _: &[usize], _: &[f32], _: &PutOptions) -> Result<(), StoreError> { Ok(()) }
    pub fn append(&mut self, _: &TensorId, _: &[usize], _: &[f32], _: u64) -> Result<(), StoreError> { Ok(()) }
    pub fn delete(&mut self, _: &TensorId) -> Result<(), StoreError> { Ok(()) }
    pub fn commit(self) -> Result<(), StoreError> { Ok(()) }
}
pub trait Later {
    fn scan(&self, _: Option<&str>) -> Vec<Result<TensorMeta, StoreError>>;
    fn meta(&self, id: &TensorId) -> Result<TensorMeta, StoreError>;
    fn frames(&self, _: &TensorId, _: std::ops::Range<u64>) -> Result<Vec<Frame>, StoreError> { Ok(vec![]) }
    fn append(&self, _: &TensorId, _: &[usize], _: &[f32], _: u64) -> Result<(), StoreError> { Ok(()) }
    fn pin(&self, _: &TensorId, _: Option<Tier>) -> Result<(), StoreError> { Ok(()) }
    fn tick(&self, _: u64) -> Result<(), StoreError> { Ok(()) }
    fn compact(&self, _: CompactOptions) -> Result<(), StoreError> { Ok(()) }
    fn verify(&self) -> Result<Report, StoreError> { Ok(Report { damaged: vec![] }) }
    fn batch(&self) -> B { B }
}
impl Later for TensorStore {
    fn scan(&self, _: Option<&str>) -> Vec<Result<TensorMeta, StoreError>> {
        let mut ids: Vec<TensorId> = (0..2u128).map(TensorId::from).collect();
        for n in 0..10 { ids.push(TensorId::from(format!("t/{n}"))); for w in 0..3 { ids.push(TensorId::from(format!("w{w}/t/{n}"))); ids.push(TensorId::from(format!("w{w}/#{n}"))); } }
        ids.extend(["a","b","c","d","e","f","g"].map(TensorId::from));
        ids.into_iter().filter(|id| self.contains(id)).map(|id| self.meta(&id)).collect()
    }
    fn meta(&self, id: &TensorId) -> Result<TensorMeta, StoreError> {
        let t = self.get(id)?;
        Ok(TensorMeta { id: id.clone(), shape: t.shape, provenance: t.provenance, wanted: Tier::Hot, stored_bytes: 0, created: 0, updated: 0, accessed: 0, accesses: 0, score: 0.0, pinned: None, max_error: None, frames: None, reconstructable: false, user: vec![] })
    }
}
