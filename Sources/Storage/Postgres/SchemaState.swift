/// The state of a database's schema compared with this program's migrations.
public enum SchemaState: Sendable, Hashable {
    /// Every migration has been applied, and none is unknown.
    case current(version: Int)
    /// Another version than this program's own, older or newer, within the range that it fits.
    case compatible(found: Int, own: Int)
    /// None has been applied, or there is no record of any.
    case missing(needed: Int)
    /// Some are still to be applied.
    case older(found: Int, needed: Int)
    /// A newer program has migrated it and left this one behind.
    case newer(found: Int, needed: Int)
    /// An applied migration differs from this program's of the same number.
    case changed(version: Int)

    /// Whether there are migrations to run.
    public var isBehind: Bool {
        switch self {
        case .missing, .older: true
        case .compatible(let found, let own): found < own
        case .current, .newer, .changed: false
        }
    }
}

extension SchemaState: CustomStringConvertible {
    /// One line, with what to do about it.
    public var description: String {
        switch self {
        case .current(let version): "the schema is current (version \(version))"
        case .compatible(let found, let own) where found > own:
            "the schema is at version \(found), newer than this program's \(own), which goes on working with it"
        case .compatible(let found, let own):
            "the schema is at version \(found), older than this program's \(own), which works with it; run the migrations"
        case .missing(let needed): "there is no schema yet (version \(needed) is needed); run the migrations"
        case .older(let found, let needed):
            "the schema is at version \(found) and this program needs \(needed); run the migrations"
        case .newer(let found, let needed):
            "the schema is at version \(found) and this program knows \(needed); install the newer program"
        case .changed(let version):
            "migration \(version) was applied with other text than this program has; install the program it came from"
        }
    }
}
