//! Names of scaled formats: `int4`, `int4/32`, `int8/tensor`, `fp8_e4m3/none`.

use alloc::format;
use alloc::string::String;
use core::str::FromStr;

use bitgrain_kernels::BlockLen;

use super::{ScaledFormat, Scaling};
use crate::CodecErr;

impl ScaledFormat {
    /// Returns the part of the name after the dtype; empty for the default scaling.
    pub(crate) fn scaling_suffix(self) -> String {
        if self.scaling == Scaling::default_for(self.dtype) {
            return String::new();
        }
        match self.scaling {
            Scaling::None => "/none".into(),
            Scaling::Tensor => "/tensor".into(),
            Scaling::Channel => "/channel".into(),
            Scaling::Group(len) => format!("/{}", len.get()),
        }
    }
}

impl FromStr for ScaledFormat {
    type Err = CodecErr;

    /// Parses a dtype name, optionally followed by a slash and `none`, `tensor`, `channel` or a group length.
    fn from_str(name: &str) -> Result<Self, CodecErr> {
        let (dtype, scaling) = name.split_once('/').map_or((name, None), |(dtype, scaling)| (dtype, Some(scaling)));
        let format = Self::new(dtype.parse()?);
        let scaling = match scaling {
            None => format.scaling,
            Some("none") => Scaling::None,
            Some("tensor") => Scaling::Tensor,
            Some("channel") => Scaling::Channel,
            Some(group) => Scaling::Group(BlockLen::new(group.parse().map_err(|_| CodecErr::UnknownFormat)?)?),
        };
        let format = Self { scaling, ..format };
        format.sizes(0, 0)?;
        Ok(format)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use crate::CodecErr;
    use crate::weight::{DType, WeightFormat};

    #[test]
    fn names_parse_back_to_what_they_came_from() {
        let names = ["int4", "int4/32", "int8", "int8/tensor", "int8/128", "fp8_e4m3/none", "float16", "q4_k", "q4f32"];
        for name in names {
            assert_eq!(name.parse::<WeightFormat>().expect(name).to_string(), name);
        }
        assert_eq!("int4/64".parse::<WeightFormat>().expect("known").to_string(), "int4");
    }

    #[test]
    fn unknown_names_are_rejected() {
        for name in ["", "int3", "int4/", "int4/x", "q4_0/32", "/"] {
            assert_eq!(name.parse::<WeightFormat>(), Err(CodecErr::UnknownFormat), "{name}");
        }
        assert_eq!("int4/60".parse::<WeightFormat>(), Err(CodecErr::InvalidBlockSize { block_size: 60 }));
        let scaled_float = "float16/channel".parse::<WeightFormat>();
        assert_eq!(scaled_float, Err(CodecErr::InvalidScaling { dtype: DType::Float16 }));
    }
}
