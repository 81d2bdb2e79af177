import Foundation

/// A Python apart with a public package in it, which judges what is ours: see deploy/lib/python-package.
///
/// - Parameter name: one of those that are named there.
/// - Returns: its directory; its programs are in `bin`.
/// - Throws: ``NeverHappened`` with what was said, where it cannot be installed.
public func pythonPackage(_ name: String) async throws -> String {
    let place = packageRoot.appending(path: ".build/\(name)").path
    _ = try await ChildProgram.run(packageRoot.appending(path: "deploy/lib/python-package").path, [name, place])
    return place
}
