package import Postgres

extension SchemaState {
    /// Why a program must not work with a schema that stands like this, and what to do; nil if it fits.
    package var misfit: String? {
        switch self {
        case .current, .compatible: nil
        case .missing, .older: "\(self): storehook migrate"
        case .newer, .changed: "\(self)"
        }
    }
}
