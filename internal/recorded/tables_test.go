package recorded_test
type tableCase struct{name string}
var tableCases []tableCase
