//! The part of a wrapper from system to system that is the system itself.

/// The methods of [`crate::System`] that a wrapper with a field `system` passes on unchanged: everything but its
/// explorer.
macro_rules! the_system_itself {
    () => {
        fn layout(&self) -> &Layout {
            self.system.layout()
        }

        fn labels(&self) -> &Arc<Labels> {
            self.system.labels()
        }

        fn groups(&self) -> &[Group] {
            self.system.groups()
        }

        fn marks(&self) -> &[Mark] {
            self.system.marks()
        }

        fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
            self.system.initial(control)
        }

        fn widened(&self) -> Option<Arc<dyn System>> {
            self.system.widened()
        }

        fn observations(&self) -> Observations {
            self.system.observations()
        }

        fn action(&self) -> Option<&dyn Action> {
            self.system.action()
        }

        fn error(&self, label: LabelId) -> u32 {
            self.system.error(label)
        }

        fn first_error(&self) -> LabelId {
            self.system.first_error()
        }

        fn slot_order(&self) -> Option<Vec<usize>> {
            self.system.slot_order()
        }

        fn describe(&self, row: &[Value]) -> String {
            self.system.describe(row)
        }
    };
}

pub(crate) use the_system_itself;
