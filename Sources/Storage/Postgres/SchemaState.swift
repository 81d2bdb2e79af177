/// How a database's schema stands to the migrations of this program.
public enum SchemaState: Sendable, Hashable {
    /// Every migration has been applied, and none is unknown.
    case current(version: Int)
    /// None has been applied, or there is no record of any.
    case missing(needed: Int)
    /// Some are still to be applied.
    case older(found: Int, needed: Int)
    /// A newer program has been here.
    case newer(found: Int, needed: Int)
    /// An applied migration is not the one that this program has under its number.
    case changed(version: Int)
}

extension SchemaState: CustomStringConvertible {
    /// One line, with what to do about it.
    public var description: String {
        switch self {
        case .current(let version): "the schema is current (version \(version))"
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
